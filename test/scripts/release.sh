#!/usr/bin/env bash
# Makes everything of a release into one folder, with checksums.
#   release.sh HELM FOLDER
# VERSION  a semantic version with a v in front; ARCHES processors (default amd64 arm64); IMAGE the repository that manifests name;
# IMAGES the container images (default all of images.sh); what this computer cannot make is left out, and the notes say why;
# PLUGIN_PLATFORMS what the kubectl plugin is built for beside them (default darwin/amd64 darwin/arm64 windows/amd64)
# DEBIAN_SOURCES of the image of ironic-python-agent, as for images.sh
# COSIGN_KEY signs the checksums: a key file or a URI of a key service, for COSIGN, the program (sign.sh)
set -euo pipefail
helm=$(realpath "${1:?usage: release.sh HELM FOLDER}")
out=${2:?usage: release.sh HELM FOLDER}
cd "$(dirname "$0")/../.."
version=${VERSION:?} arches=${ARCHES:-amd64 arm64} image=${IMAGE:-ghcr.io/ironflow/ironflow} engine=${ENGINE:-buildah}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "ironflow: VERSION=$version is no semantic version such as v0.1.0 or v0.1.0-rc.1" >&2; exit 1; }
recorded=test/upgrade/testdata/$(cut -d. -f1,2 <<< "${version#v}")
[ -d "$recorded" ] || { echo "ironflow: $recorded is not there: what this release promises is recorded first, see docs/development.md, 'Releases'" >&2; exit 1; }
bash test/scripts/changelog.sh "$version" CHANGELOG.md
rm -rf "$out"
mkdir -p "$out"
out=$(realpath "$out")
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export CGO_ENABLED=0 GOFLAGS=-trimpath GOOS=linux

# archive FOLDER [PART] prints a tar that is the same for the same files.
archive() { tar --sort=name --mtime="@$time" --mode=u+rw,go+r,go-w,a+X --owner=0 --group=0 --numeric-owner -C "$1" -cf - "${2:-.}"; }
pack() { archive "$2" | gzip -n > "$out/$1.tar.gz"; }

for arch in $arches; do
  dir=$(mktemp -d)
  for program in ironflow ironflow-agent ironflow-agent-based ironflow-cluster ironflow-step kubectl-ironflow; do
    echo "build $program for linux/$arch"
    GOARCH=$arch go build -ldflags "-s -w -X github.com/ironflow/ironflow/api/version.release=$version" -o "$dir/$program" "./cmd/$program"
  done
  cp LICENSE README.md "$dir/"
  # What each program was made of: every module with its version and checksum.
  files=()
  for file in "$dir"/*; do files+=("$(basename "$file")=$file"); done
  bash test/scripts/sbom.sh --name "ironflow-linux-$arch" --version "$version" --out "$out/ironflow-$version-linux-$arch.cdx.json" "${files[@]}"
  pack "ironflow-$version-linux-$arch" "$dir"
  rm -rf "$dir"
done

# The plugin for the computers that people sit at, and its manifest for Krew.
mapfile -t here < <(printf 'linux/%s\n' $arches)
bash test/scripts/krew.sh "$version" "$out" "${here[@]}" ${PLUGIN_PLATFORMS-darwin/amd64 darwin/arm64 windows/amd64}

# helm writes the time of day into its archive.
dir=$(mktemp -d)
"$helm" package config/chart --destination "$dir" --app-version "$version" --version "${version#v}" 2> >(grep -v 'found symbolic link' >&2) >/dev/null
tar -C "$dir" -xf "$dir/ironflow-${version#v}.tgz"
archive "$dir" ironflow | gzip -n > "$out/ironflow-${version#v}.tgz"
rm -rf "$dir"
bash test/scripts/install-yaml.sh "$helm" "$out" --set image.tag="$version" --set image.repository="$image"
# The folders for kubectl apply -k, the overlays of the chart and the samples.
dir=$(mktemp -d)
cp -r config/{admission,bmc-rotation,cluster-credentials,crd,default,hostclaims,manager,network-policy,prometheus,rbac,samples} config/chart/overlays "$dir/"
find "$dir" -name '*.go' -delete
pack "ironflow-$version-manifests" "$dir"
rm -rf "$dir"
cp config/monitoring/prometheus_rule.yaml config/monitoring/grafana-hosts.json config/monitoring/grafana-service.json CHANGELOG.md "$out/"

# not_here is what this computer cannot make, and why.
not_here=()
for name in ${IMAGES-ironflow ironflow-agent ironflow-cluster ironic-python-agent}; do
  possible=
  for arch in $arches; do
    if [ "$(id -u)" != 0 ]; then
      not_here+=("the image $name for $arch: it needs root")
    elif why=$(ENGINE=$engine bash test/scripts/images.sh --lacks "$name" "$arch"); then
      possible+="$arch "
    else
      not_here+=("the image $name for $arch: $why")
    fi
  done
  [ -n "$possible" ] || continue
  dir=$(mktemp -d)
  COSIGN_KEY='' ARCHES=$possible OUT=$dir VERSION=$version ENGINE=$engine bash test/scripts/images.sh "$name"
  # In a folder first: the engine writes the time of day into its archives.
  "$engine" manifest push --all --quiet "localhost/$name:$version" "oci:$dir/image" >/dev/null
  archive "$dir/image" > "$out/$name-$version-image.tar"
  mv "$dir"/*.cdx.json "$out/"
  rm -rf "$dir"
done

# What the commits since the last release say, by what they are.
last=$(git describe --tags --abbrev=0 --match 'v*' "HEAD^" 2>/dev/null || true)
{
  echo "# Ironflow $version"
  for kind in feat:Added fix:Corrected docs:Documentation; do
    lines=$(git log --no-merges --format=%s ${last:+"$last..HEAD"} | grep -E "^${kind%%:*}(\([^)]*\))?: " | sed -E 's/^[a-z]+(\(([^)]*)\))?: /- \2: /; s/^- : /- /' || true)
    [ -z "$lines" ] || printf '\n## %s\n\n%s\n' "${kind##*:}" "$lines"
  done
  [ ${#not_here[@]} -eq 0 ] || printf '\n## Not made\n\n'
  for what in "${not_here[@]}"; do echo "- $what"; done
} > "$out/NOTES.md"
(cd "$out" && sha256sum -- * > SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
[ -z "${COSIGN_KEY:-}" ] || bash test/scripts/sign.sh file "$out/SHA256SUMS"
echo "wrote $out:"
ls -1 "$out"
for what in "${not_here[@]}"; do echo "ironflow: not made: $what" >&2; done
