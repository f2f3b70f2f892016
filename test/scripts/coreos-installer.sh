#!/usr/bin/env bash
# Builds the real coreos-installer from its crate, once, with the Debian packages of its libraries.
#   coreos-installer.sh COMMAND...     what runs ironflow-lab
set -euo pipefail
bash "$(dirname "$0")/test-tools.sh" pkg-config libssl-dev liblzma-dev libzstd-dev
exec "$@" coreos-installer
