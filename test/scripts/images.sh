#!/usr/bin/env bash
# Builds container images of static programs, with nothing of a distribution in them: ironflow, ironflow-agent, ironflow-cluster.
#   images.sh [IMAGE...]
# VERSION    tag and label; the same source, compiler and version make the same image
# REGISTRY   where the names begin, such as registry.example/ironflow; localhost if unset
# ARCHES     amd64 arm64 ...; that of this computer if unset. Several become a manifest list
# ENGINE     buildah (default) or podman
# PUSH=1     pushes to REGISTRY, with the credentials of the engine's own login
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${VERSION:?} registry=${REGISTRY:-localhost} engine=${ENGINE:-buildah} out=${OUT:-bin/images}
arches=${ARCHES:-$(go env GOARCH)}
[ $# -gt 0 ] || set -- ironflow ironflow-agent ironflow-cluster
command -v "$engine" >/dev/null || { echo "ironflow: $engine is not installed: apt-get install $engine, or ENGINE=podman" >&2; exit 1; }
if [ "${PUSH:-}" = 1 ] && [ "$registry" = localhost ]; then
  echo "ironflow: PUSH=1 needs REGISTRY, such as registry.example/ironflow" >&2
  exit 1
fi
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
# The time of the commit, so that two builds of it are the same.
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export CGO_ENABLED=0 GOFLAGS=-trimpath

# programs IMAGE are those that an image holds.
programs() {
  case $1 in
  ironflow) echo ironflow ironflow-agent ironflow-agent-based ironflow-step ;;
  ironflow-agent | ironflow-cluster) echo "$1" ;;
  *) echo "ironflow: there is no image $1: ironflow, ironflow-agent or ironflow-cluster" >&2; return 1 ;;
  esac
}

# The agent makes the links of its names while its image is built, so it has to run here.
for arch in $arches; do
  if [ "$arch" != "$(go env GOHOSTARCH)" ] && [[ " $* " = *" ironflow-agent "* ]] && ! compgen -G '/proc/sys/fs/binfmt_misc/qemu-*' >/dev/null; then
    echo "ironflow: the image ironflow-agent for $arch runs a program of $arch while it is built: apt-get install qemu-user-static, build it on such a computer, or name the other images" >&2
    exit 1
  fi
done

for image in "$@"; do
  tag=$registry/$image:$version
  list=$(programs "$image")
  "$engine" manifest rm "$tag" >/dev/null 2>&1 || "$engine" rmi "$tag" >/dev/null 2>&1 || true
  "$engine" manifest create "$tag" >/dev/null
  for arch in $arches; do
    dir=$out/$image/$arch
    rm -rf "$dir" && mkdir -p "$dir"
    for program in $list; do
      GOARCH=$arch GOOS=linux go build -ldflags "-s -w -X github.com/ironflow/ironflow/api/version.release=$version" -o "$dir/$program" "./cmd/$program"
    done
    [ "$image" != ironflow ] || cp "${CA_CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}" "$dir/ca-certificates.crt"
    "$engine" build --quiet --isolation=chroot --platform "linux/$arch" --timestamp "$time" --manifest "$tag" --file "cmd/$image/Containerfile" \
      --label "org.opencontainers.image.title=$image" --label "org.opencontainers.image.version=$version" --label "org.opencontainers.image.revision=$revision" \
      --label "org.opencontainers.image.source=https://github.com/ironflow/ironflow" --label "org.opencontainers.image.licenses=Apache-2.0" "$dir" >/dev/null
  done
  echo "built $tag for $arches"
  if [ "${PUSH:-}" = 1 ]; then
    "$engine" manifest push --all "$tag" "docker://$tag"
    echo "pushed $tag"
  fi
done
