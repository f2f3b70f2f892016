#!/usr/bin/env bash
# Signs with cosign and a key of the user's own, without any service: no transparency log, no certificate authority, no network but the registry's.
#   sign.sh file FILE          FILE.sigstore.json for `cosign verify-blob`, and FILE.sig for `openssl dgst -verify`
#   sign.sh image NAME@DIGEST  the image and, of a list, each of its images, in the registry
# COSIGN      the program (`make cosign` builds it)
# COSIGN_KEY  a key file of `cosign generate-key-pair`, or the URI of a key service: awskms://, azurekms://, gcpkms://, hashivault://, env://...
# The password of a key file comes from COSIGN_PASSWORD, or is asked for.
set -euo pipefail
what=${1:?usage: sign.sh file|image NAME} name=${2:?usage: sign.sh file|image NAME}
: "${COSIGN_KEY:?set COSIGN_KEY to the key}"
cosign=${COSIGN:-cosign}
command -v "$cosign" >/dev/null || { echo "ironflow: no $cosign here: run 'make cosign', and set COSIGN to bin/cosign" >&2; exit 1; }
# They name no service and no authority, so none is asked.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo '{"mediaType":"application/vnd.dev.sigstore.signingconfig.v0.2+json","rekorTlogConfig":{},"tsaConfig":{}}' > "$dir/services.json"
echo '{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}' > "$dir/root.json"
sign=(--yes --key "$COSIGN_KEY" --signing-config "$dir/services.json" --trusted-root "$dir/root.json")
case $what in
file)
  "$cosign" sign-blob "${sign[@]}" --bundle "$name.sigstore.json" "$name" >/dev/null
  sed -E 's/.*"signature": ?"([^"]*)".*/\1/' "$name.sigstore.json" | base64 -d > "$name.sig"
  ;;
image) "$cosign" sign --recursive "${sign[@]}" "$name" ;;
*) echo "usage: sign.sh file|image NAME" >&2; exit 1 ;;
esac
echo "signed $name"
