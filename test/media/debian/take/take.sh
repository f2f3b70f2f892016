#!/usr/bin/env bash
# Takes a program out of a Debian package, without installing it.
#   take.sh OUT PACKAGE PATH
# OUT then holds it by its own name. Needs apt-get and the Debian mirror.
set -euo pipefail
cd "${1:?usage: take.sh OUT PACKAGE PATH}"
apt-get download -qq "$2" 2>&1 | grep -v 'performed unsandboxed' || true
dpkg-deb -x "$2"_*.deb unpacked
mv "unpacked/$3" .
rm -rf unpacked "$2"_*.deb
