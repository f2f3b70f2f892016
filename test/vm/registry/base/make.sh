#!/usr/bin/env bash
# Makes what the image debian:bookworm-slim holds: no manuals, no translations, and apt keeps nothing of what it has downloaded.
#   make.sh OUT
# OUT/debian.tar then is its root file system. Needs root, mmdebstrap and the Debian mirror.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT}")
mmdebstrap --variant=minbase --include=ca-certificates --quiet \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/groff/*' --dpkgopt='path-exclude=/usr/share/lintian/*' \
  --dpkgopt='path-exclude=/usr/share/linda/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --aptopt='Acquire::Languages "none"' --aptopt='Dir::Cache::pkgcache ""' --aptopt='Dir::Cache::srcpkgcache ""' \
  --aptopt='DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb /var/cache/apt/*.bin || true"; }' \
  bookworm "$out/debian.tar"
