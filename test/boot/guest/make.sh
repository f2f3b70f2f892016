#!/usr/bin/env bash
# Makes the guest of the boot tests out of Debian packages: kernel, initrd with systemd, root file system with
# NetworkManager, boot loaders, and a live ISO of them with the CoreOS layout.
#   make.sh OUT
# OUT then holds live.iso, and the firmware for QEMU: OVMF.fd and ipxe-virtio.rom. Needs root, Debian's apt, and the
# programs of test/scripts/boot-tools.sh. Takes about two minutes and 1 GB in OUT while it works, 150 MB afterwards.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT}")
here=$(cd "$(dirname "$0")" && pwd)
parts=$here/../../media/debian/parts
work=$out/work
suite=bookworm
mkdir -p "$work"

source "$parts/packages.sh"
source "$parts/initrd.sh"
source "$parts/medium.sh"
source "$here/root.sh"
source "$here/initrd.sh"

fetch_packages busybox-static isolinux syslinux-common grub-efi-amd64-bin ovmf ipxe-qemu
cp "$packages/usr/share/OVMF/OVMF_CODE.fd" "$out/OVMF.fd"
cp -L "$packages/usr/lib/ipxe/qemu/efi-virtio.rom" "$out/ipxe-virtio.rom"
make_root
make_initrd
make_medium console=ttyS0 quiet mitigations=off net.ifnames=0
rm -rf "$work"
