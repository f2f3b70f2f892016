#!/usr/bin/env bash
# Installs the Debian packages behind some tests: a real systemd (mmdebstrap), NetworkManager's nmcli, cpio, xorriso, nginx, chrony, a DNS and DHCP server,
# Tang, podman, PostgreSQL, a container registry, openssl, Prometheus' promtool, and tools for namespaces and disks.
# Without root nothing is installed; the tests that need them then skip and say so. With CI=true that is an error.
#   test-tools.sh [PACKAGE...]     other packages instead
set -euo pipefail
packages=(mmdebstrap dbus systemd network-manager util-linux cpio xorriso nginx-light chrony dnsmasq-base tang-common jose podman e2fsprogs fdisk iproute2 dmidecode buildah udev postgresql docker-registry openssl prometheus)
[ $# -eq 0 ] || packages=("$@")
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  if [ "${CI:-}" = true ]; then
    echo "ironflow: not installed: ${missing[*]}; with CI=true nothing is skipped: run 'apt-get install ${missing[*]}' as root and run this again." >&2
    exit 1
  fi
  echo "ironflow: not installed: ${missing[*]}; the tests that need them will skip. To run them: sudo apt-get install ${missing[*]}"
  exit 0
fi
echo "installing ${missing[*]}"
apt-get update -qq
# Another make may be installing at the same time: it is waited for.
DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
