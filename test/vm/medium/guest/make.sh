#!/usr/bin/env bash
# Makes the media of test/vm out of Debian packages: a live ISO with the CoreOS layout and the real Ignition engine, and
# the disk image that the real coreos-installer writes. As on real media, the live ISO carries that image.
#   make.sh OUT ROOT COREOS_INSTALLER
# ROOT is what ../packages/make.sh has made. OUT then holds live.iso, installed.raw, and QEMU's firmware. Needs root, Debian's apt,
# loop devices and the programs of test/scripts/boot-tools.sh.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT ROOT COREOS_INSTALLER}")
base=$(realpath "$2")
installer=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
parts=$here/../../../media/debian/parts
work=$out/work
mkdir -p "$work"

# With QEMU as the processor, Linux mistrusts the time stamp counter and asks the HPET instead: that is a device, on which both
# processors wait for each other, and programs in Go ask for the time all the while (7 to 9 us, not 0.7 to 1 us).
kernel=(console=ttyS0 quiet mitigations=off tsc=reliable)

source "$parts/packages.sh"
source "$parts/initrd.sh"
source "$parts/medium.sh"
source "$here/root.sh"
source "$here/initrd.sh"
source "$here/installed.sh"
source "$here/osmet.sh"

fetch_packages busybox-static isolinux syslinux-common grub-efi-amd64-bin grub-pc-bin ovmf ipxe-qemu ignition
cp "$packages/usr/share/OVMF/OVMF_CODE_4M.fd" "$out/OVMF_CODE.fd"
cp "$packages/usr/share/OVMF/OVMF_VARS_4M.fd" "$out/OVMF_VARS.fd"
cp -L "$packages/usr/lib/ipxe/qemu/efi-virtio.rom" "$out/efi-virtio.rom"
make_root
make_initrd
make_installed
make_osmet
make_rootfs
make_medium "${kernel[@]}"
rm -rf "$work"
