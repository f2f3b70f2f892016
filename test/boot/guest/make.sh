#!/usr/bin/env bash
# Makes the guest of the boot tests out of Debian packages: kernel, initrd with systemd, root file system with
# NetworkManager, boot loaders, and a live ISO of them with the CoreOS layout.
#   make.sh OUT
# OUT then holds live.iso, and the firmware for QEMU: OVMF.fd and ipxe-virtio.rom. Needs root, Debian's apt, and the
# programs of test/scripts/boot-tools.sh. Takes about two minutes and 1 GB in OUT while it works, 150 MB afterwards.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT}")
here=$(cd "$(dirname "$0")" && pwd)
work=$out/work
suite=bookworm
# The label is how the boot loader and the initrd find the medium, and how tools know a CoreOS medium.
label=fedora-coreos-42.20260102.3.0
mkdir -p "$work"

source "$here/packages.sh"
source "$here/root.sh"
source "$here/initrd.sh"
source "$here/medium.sh"

fetch_packages
make_root
make_initrd
make_medium
rm -rf "$work"
