#!/usr/bin/env bash
# Installs the Debian packages that the end-to-end tier needs, when root may do so.
set -euo pipefail
packages=(mmdebstrap dbus systemd-container util-linux)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
[ "$(id -u)" = 0 ] || { echo "ironflow: the end-to-end tests need ${missing[*]}: run 'sudo apt-get install ${missing[*]}' first." >&2; exit 1; }
echo "installing ${missing[*]}"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
