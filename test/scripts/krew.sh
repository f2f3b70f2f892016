#!/usr/bin/env bash
# Packs the kubectl plugin for each platform with its software bill of materials, and writes Krew's manifest of it.
#   krew.sh VERSION FOLDER OS/ARCH...
# DOWNLOADS  where the archives will be fetched from; default the release's page
# BINARIES   a folder with OS-ARCH/kubectl-ironflow that were built already; without it they are built
set -euo pipefail
version=${1:?usage: krew.sh VERSION FOLDER OS/ARCH...} out=${2:?usage: krew.sh VERSION FOLDER OS/ARCH...}
shift 2
[ $# -gt 0 ] || { echo "usage: krew.sh VERSION FOLDER OS/ARCH..." >&2; exit 1; }
mkdir -p "$out"
out=$(realpath "$out")
[ -z "${BINARIES:-}" ] || BINARIES=$(realpath "$BINARIES")
cd "$(dirname "$0")/../.."
downloads=${DOWNLOADS:-https://github.com/ironflow/ironflow/releases/download/$version}
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
template=config/krew/ironflow.yaml manifest=$out/ironflow.yaml
block=$(sed -n '/# each platform: begin/,/# each platform: end/p' "$template" | sed '1d;$d')
{
  echo "# kubectl krew install --manifest-url $downloads/ironflow.yaml"
  sed -e '/^#/d' -e '/# each platform: begin/,$d' -e "s|VERSION|$version|" "$template"
} > "$manifest"
for platform; do
  os=${platform%/*} arch=${platform#*/} name=kubectl-ironflow
  [ "$os" != windows ] || name=kubectl-ironflow.exe
  dir=$(mktemp -d)
  if [ -n "${BINARIES:-}" ]; then
    cp "$BINARIES/$os-$arch/$name" "$dir/$name"
  else
    echo "build kubectl-ironflow for $platform"
    CGO_ENABLED=0 GOFLAGS=-trimpath GOOS=$os GOARCH=$arch go build -ldflags "-s -w -X github.com/ironflow/ironflow/api/version.release=$version" -o "$dir/$name" ./cmd/kubectl-ironflow
  fi
  cp LICENSE cmd/kubectl-ironflow/kubectl_complete-ironflow "$dir/"
  archive=kubectl-ironflow-$version-$os-$arch.tar.gz
  tar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner -C "$dir" -cf - . | gzip -n > "$out/$archive"
  bash test/scripts/sbom.sh --name "kubectl-ironflow-$os-$arch" --version "$version" --out "$out/${archive%.tar.gz}.cdx.json" "$name=$dir/$name"
  sum=$(sha256sum "$out/$archive" | cut -d' ' -f1)
  rm -rf "$dir"
  sed -e "s|\bOS\b|$os|" -e "s|\bARCH\b|$arch|" -e "s|URI|$downloads/$archive|" -e "s|SHA256|$sum|" -e "s|BINARY|$name|" <<<"$block" >> "$manifest"
done
