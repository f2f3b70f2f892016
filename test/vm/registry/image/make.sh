#!/usr/bin/env bash
# Builds the image of ironic-python-agent as customdeploy/ipa/Containerfile describes it, and fills the storage of a registry
# with it. The two images that the Containerfile starts from are made of Debian packages and of this machine's Go, because no
# registry can be reached; all else are its own lines.
#   make.sh OUT SOURCE BASE
# SOURCE is the source tree, BASE what ../base/make.sh has made. OUT then holds the program docker-registry and its storage. Needs root, buildah, the
# Debian mirror and PyPI.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT SOURCE BASE}")
source=$(realpath "$2")
base_files=$(realpath "$3")
work=$out/work
mkdir -p "$work/debs" "$work/context"
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
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot TMPDIR=$work

(cd "$work/debs" && apt-get download -qq docker-registry 2>&1 | grep -v 'performed unsandboxed' || true)
dpkg-deb -x "$work"/debs/docker-registry_*.deb "$work/packages"
cp "$work/packages/usr/bin/docker-registry" "$out/"

base=$(buildah from scratch)
buildah add --quiet "$base" "$base_files/debian.tar" / >/dev/null
buildah commit --quiet --disable-compression "$base" docker.io/library/debian:bookworm-slim >/dev/null
buildah add --quiet "$base" "$(go env GOROOT)" /usr/local/go >/dev/null
buildah config --env PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$base"
buildah commit --quiet --disable-compression "$base" docker.io/library/golang:1.26 >/dev/null
buildah rm "$base" >/dev/null

# What the Containerfile copies, without what lies beside the sources.
(cd "$source" && tar -c --exclude=./.git --exclude=./bin --exclude=./.cache --exclude=node_modules .) | tar -x -C "$work/context"
# Downloads are judged by the certificates that this machine trusts.
printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' >"$work/pip.conf"
buildah build --quiet --pull-never --isolation=chroot --file "$source/customdeploy/ipa/Containerfile" --tag ironflow-ipa \
  --volume /etc/ssl/certs/ca-certificates.crt:/etc/ssl/certs/ca-certificates.crt:ro --volume "$work/pip.conf:/etc/pip.conf:ro" \
  --volume "$(go env GOMODCACHE):/root/go/pkg/mod" --volume "$(go env GOCACHE):/root/.cache/go-build" "$work/context"

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
# A registry gets no layers that are not compressed; this is what an emulated processor unpacks fastest.
buildah push --quiet --tls-verify=false --compression-format zstd --compression-level 1 ironflow-ipa "docker://127.0.0.1:$port/ironflow-ipa:latest"
