#!/usr/bin/env bash
# Builds the image of ironic-python-agent as `make images` does, and fills the storage of a registry with it.
#   make.sh OUT SOURCE
# SOURCE is the source tree. OUT then holds the program docker-registry and its storage. Needs root, buildah, mmdebstrap, the Debian mirror and PyPI.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT SOURCE}")
source=$(realpath "$2")
work=$out/work
mkdir -p "$work/debs"
trap 'clean' EXIT

# clean ends the registry and removes what only the build needs.
clean() {
  [ -z "${registry:-}" ] || kill "$registry" || true
  buildah rmi --all --force >/dev/null 2>&1 || true
  umount "$work/storage/overlay" 2>/dev/null || true
  rm -rf "$work"
}

# An overlay cannot lie on an overlay, as root file systems of containers are.
driver=overlay
[ "$(stat -f -c %T "$work")" != overlayfs ] || driver=vfs
cat >"$work/storage.conf" <<CONF
[storage]
driver = "$driver"
runroot = "$work/run"
graphroot = "$work/storage"
CONF
export CONTAINERS_STORAGE_CONF=$work/storage.conf TMPDIR=$work

(cd "$work/debs" && apt-get download -qq docker-registry 2>&1 | grep -v 'performed unsandboxed' || true)
dpkg-deb -x "$work"/debs/docker-registry_*.deb "$work/packages"
cp "$work/packages/usr/bin/docker-registry" "$out/"

VERSION=test OUT=$work/image bash "$source/test/scripts/images.sh" ironic-python-agent

cat >"$work/registry.yml" <<CONF
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $out/storage}}
http: {addr: 127.0.0.1:0}
CONF
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed -i "s/127.0.0.1:0/127.0.0.1:$port/" "$work/registry.yml"
"$out/docker-registry" serve "$work/registry.yml" >"$work/registry.log" 2>&1 &
registry=$!
for _ in $(seq 100); do
  ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  sleep 0.1
done
# A registry gets no layers that are not compressed; this is what an emulated processor unpacks fastest. An index cannot be pushed so, hence its only image.
image=$(buildah inspect --type image --format '{{.FromImageID}}' localhost/ironic-python-agent:test)
buildah push --quiet --tls-verify=false --compression-format zstd --compression-level 1 "$image" "docker://127.0.0.1:$port/ironic-python-agent:latest"
