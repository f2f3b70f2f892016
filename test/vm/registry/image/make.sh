#!/usr/bin/env bash
# Builds the image of ironic-python-agent as customdeploy/ipa/Containerfile describes it, and fills the storage of a registry
# with it. The two images that the Containerfile starts from are made of Debian packages and of this machine's Go, because no
# registry can be reached; all else are its own lines.
#   make.sh OUT SOURCE
# SOURCE is the source tree. OUT then holds the program docker-registry and its storage. Needs root, buildah, mmdebstrap,
# the Debian mirror and PyPI.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT SOURCE}")
source=$(realpath "$2")
work=$out/work
mkdir -p "$work/debs" "$work/context"
trap 'clean' EXIT

# clean ends the registry and removes what only the build needs.
clean() {
  [ -z "${registry:-}" ] || kill "$registry" || true
  buildah rmi --all --force >/dev/null 2>&1 || true
  rm -rf "$work"
}

cat >"$work/storage.conf" <<CONF
[storage]
driver = "vfs"
runroot = "$work/run"
graphroot = "$work/storage"
CONF
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot TMPDIR=$work

(cd "$work/debs" && apt-get download -qq docker-registry 2>&1 | grep -v 'performed unsandboxed' || true)
dpkg-deb -x "$work"/debs/docker-registry_*.deb "$work/packages"
cp "$work/packages/usr/bin/docker-registry" "$out/"

# As the real bookworm-slim has it: no manuals, no translations, and apt keeps nothing of what it has downloaded.
mmdebstrap --variant=minbase --include=ca-certificates --quiet \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/groff/*' --dpkgopt='path-exclude=/usr/share/lintian/*' \
  --dpkgopt='path-exclude=/usr/share/linda/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --aptopt='Acquire::Languages "none"' --aptopt='Dir::Cache::pkgcache ""' --aptopt='Dir::Cache::srcpkgcache ""' \
  --aptopt='DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb /var/cache/apt/*.bin || true"; }' \
  bookworm "$work/debian.tar"
base=$(buildah from scratch)
buildah add --quiet "$base" "$work/debian.tar" / >/dev/null
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
