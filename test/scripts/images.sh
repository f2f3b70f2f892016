#!/usr/bin/env bash
# Builds the container images, without any other image. ironflow, ironflow-agent and ironflow-cluster hold static programs, and nothing of a distribution;
# nothing of them runs while they are built, so those of other processors need no emulation. ironic-python-agent is of Debian's packages and PyPI's
# (ipa-root.sh). Beside them, in OUT, is the software bill of materials of each image and processor (CycloneDX).
#   images.sh [IMAGE...]
#   images.sh --lacks IMAGE ARCH   says what this computer lacks to build it, and fails; or nothing
# VERSION    tag and label; the same source, compiler and version make the same image
# REGISTRY   where the names begin, such as registry.example/ironflow; localhost if unset
# ARCHES     amd64 arm64 ...; that of this computer if unset. Several become a manifest list
# ENGINE     buildah (default) or podman
# DEBIAN_SOURCES  of ironic-python-agent: a file with apt's sources, in place of Debian's own servers
# OUT        folder of the programs and the bills of materials
# PUSH=1     pushes to REGISTRY, with the credentials of the engine's own login
# COSIGN_KEY with PUSH=1, signs what was pushed: a key file or a URI of a key service, for COSIGN, the program (sign.sh)
set -euo pipefail
shopt -s inherit_errexit

# lacks IMAGE ARCH says what it cannot be built without.
lacks() {
  command -v "${ENGINE:-buildah}" >/dev/null || { echo "${ENGINE:-buildah} is not installed: apt-get install buildah, or ENGINE=podman"; return; }
  [ "$1" = ironic-python-agent ] || return 0
  command -v mmdebstrap >/dev/null || { echo "mmdebstrap is not installed: apt-get install mmdebstrap"; return; }
  # Debian's packages run programs while they are installed.
  local machine
  case $2 in
  amd64) machine=x86_64 ;;
  arm64) machine=aarch64 ;;
  *) echo "it is made for amd64 and arm64 only"; return ;;
  esac
  [ "$(uname -m)" = $machine ] || [ -e /proc/sys/fs/binfmt_misc/qemu-$machine ] ||
    echo "this computer does not run programs of $2: apt-get install qemu-user-static, or build it on a computer of that kind"
}

if [ "${1:-}" = --lacks ]; then
  why=$(lacks "${2:?usage: images.sh --lacks IMAGE ARCH}" "${3:?usage: images.sh --lacks IMAGE ARCH}")
  echo -n "$why"
  [ -z "$why" ]
  exit
fi
cd "$(dirname "$0")/../.."
version=${VERSION:?} registry=${REGISTRY:-localhost} engine=${ENGINE:-buildah} out=${OUT:-bin/images}
arches=${ARCHES:-$(go env GOARCH)}
[ $# -gt 0 ] || set -- ironflow ironflow-agent ironflow-cluster ironic-python-agent
if [ "${PUSH:-}" = 1 ] && [ "$registry" = localhost ]; then
  echo "ironflow: PUSH=1 needs REGISTRY, such as registry.example/ironflow" >&2
  exit 1
fi
if [ -n "${COSIGN_KEY:-}" ] && [ "${PUSH:-}" != 1 ]; then
  echo "ironflow: an image is signed in its registry: COSIGN_KEY needs PUSH=1" >&2
  exit 1
fi
# What cannot be built is said before anything is.
for image in "$@"; do
  for arch in $arches; do
    why=$(lacks "$image" "$arch")
    [ -z "$why" ] || { echo "ironflow: the image $image for $arch cannot be built: $why" >&2; exit 1; }
  done
done
mkdir -p "$out"
out=$(realpath "$out")
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
# The time of the commit, so that two builds of it are the same.
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export CGO_ENABLED=0 GOFLAGS=-trimpath

# programs IMAGE are those that an image holds.
programs() {
  case $1 in
  ironflow) echo ironflow ironflow-agent ironflow-agent-based ironflow-step ;;
  ironflow-agent | ironflow-cluster) echo "$1" ;;
  ironic-python-agent) echo ironflow-step ;;
  *) echo "ironflow: there is no image $1: ironflow, ironflow-agent, ironflow-cluster or ironic-python-agent" >&2; return 1 ;;
  esac
}

# describe IMAGE prints the options of a build that are the image's own. Debian's packages in it have licences of their own.
describe() {
  case $1 in
  ironic-python-agent) echo --file=customdeploy/ipa/Containerfile ;;
  *) printf '%s\n' "--file=cmd/$1/Containerfile" --label=org.opencontainers.image.licenses=Apache-2.0 ;;
  esac
}

build() { go build -ldflags "-s -w -X github.com/ironflow/ironflow/api/version.release=$version" -o "$1" "./cmd/$2"; }

# prepare IMAGE ARCH FOLDER makes what the Containerfile copies, and prints what the bill of materials is made of: lists of packages, then PLACE=FILE of
# each file.
prepare() {
  local image=$1 dir=$3 at=/ program links
  case $image in
  ironflow-agent)
    # It has the names of many programs: a link each. The program makes them itself, built for this computer.
    at=/usr/bin/ dir=$3/bin links=$3/bin
    mkdir -p "$dir"
    if [ "$2" != "$(go env GOHOSTARCH)" ]; then
      links=$(mktemp -d)
      GOOS='' GOARCH='' build "$links/ironflow-agent" ironflow-agent
    fi
    ;;
  ironflow-cluster) at=/usr/bin/ ;;
  ironic-python-agent)
    at=/usr/local/bin/
    SOURCE_DATE_EPOCH=$time bash test/scripts/ipa-root.sh "$2" "$dir" >&2
    cp customdeploy/ipa/container.conf "$dir/"
    printf '%s\n' "--debian=$dir/dpkg-status" "--pypi=$dir/python.json" "/etc/ironic-python-agent/00-image.conf=$dir/container.conf"
    ;;
  esac
  for program in $(programs "$image"); do
    GOARCH=$2 GOOS=linux build "$dir/$program" "$program"
    echo "$at$program=$dir/$program"
  done
  if [ -n "${links:-}" ]; then
    "$links/ironflow-agent" install-links "$dir"
    [ "$links" = "$dir" ] || rm -r "$links"
  fi
  if [ "$image" = ironflow ]; then
    cp "${CA_CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}" "$dir/ca-certificates.crt"
    echo "/etc/ssl/certs/ca-certificates.crt=$dir/ca-certificates.crt"
  fi
}

for image in "$@"; do
  tag=$registry/$image:$version
  programs "$image" >/dev/null
  mapfile -t options < <(describe "$image")
  "$engine" manifest rm "$tag" >/dev/null 2>&1 || "$engine" rmi "$tag" >/dev/null 2>&1 || true
  "$engine" manifest create "$tag" >/dev/null
  for arch in $arches; do
    dir=$out/$image/$arch
    rm -rf "$dir" && mkdir -p "$dir"
    parts=$(prepare "$image" "$arch" "$dir")
    mapfile -t parts <<<"$parts"
    bash test/scripts/sbom.sh --type container --name "$image" --version "$version" --out "$out/$image-$version-image-linux-$arch.cdx.json" "${parts[@]}"
    "$engine" build --quiet --isolation=chroot --platform "linux/$arch" --timestamp "$time" --manifest "$tag" "${options[@]}" \
      --label "org.opencontainers.image.title=$image" --label "org.opencontainers.image.version=$version" --label "org.opencontainers.image.revision=$revision" \
      --label "org.opencontainers.image.source=https://github.com/ironflow/ironflow" "$dir" >/dev/null
  done
  echo "built $tag for $arches"
  if [ "${PUSH:-}" = 1 ]; then
    "$engine" manifest push --all --digestfile "$out/$image.digest" "$tag" "docker://$tag"
    echo "pushed $tag"
    [ -z "${COSIGN_KEY:-}" ] || bash test/scripts/sign.sh image "$registry/$image@$(cat "$out/$image.digest")"
  fi
done
