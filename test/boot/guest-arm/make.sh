#!/usr/bin/env bash
# Makes the aarch64 guest of the boot tests out of Debian packages: kernel, an initrd with busybox that says what it was
# given, GRUB, and a live ISO of them with the layout of CoreOS media for aarch64: UEFI alone, one configuration with
# kernel arguments. It stays in its initrd, so it needs no drivers; the root file system on the medium is a stand-in.
#   make.sh OUT
# OUT then holds live.iso and the firmware for QEMU, AAVMF.fd. Needs root, Debian's apt, and the programs of
# test/scripts/boot-tools.sh. Nothing of another architecture is executed here.
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT}")
here=$(cd "$(dirname "$0")" && pwd)
work=$out/work
mkdir -p "$work"

source "$here/../../media/debian/parts/medium.sh" # label and config

# The packages are unpacked, not installed.
mmdebstrap --quiet --architectures=arm64 --variant=extract --include=linux-image-arm64,grub-efi-arm64-bin,busybox-static bookworm "$work/packages"
(cd "$work" && apt-get download -qq qemu-efi-aarch64 2>&1 | grep -v 'performed unsandboxed' || true)
dpkg-deb -x "$work"/qemu-efi-aarch64_*.deb "$work/firmware"
cp "$work/firmware/usr/share/AAVMF/AAVMF_CODE.fd" "$out/AAVMF.fd"

tree=$work/initrd
mkdir -p "$tree"/{bin,proc,dev,sys}
cp "$work/packages/bin/busybox" "$tree/bin/"
install -m 0755 "$here/init.sh" "$tree/init"
(cd "$tree" && find . | LC_ALL=C sort | cpio --quiet -o -H newc --reproducible -R 0:0 | gzip -6n >"$work/initrd.img")
echo "a stand-in for the root file system" >"$work/rootfs.img"

iso=$work/iso
args="console=ttyAMA0 quiet coreos.liveiso=$label ignition.firstboot ignition.platform.id=metal"
size=$((${#args} + 1024))
mkdir -p "$iso"/{coreos,images/pxeboot,EFI/fedora}
cp "$work"/packages/boot/vmlinuz-* "$iso/images/pxeboot/vmlinuz"
cp "$work/initrd.img" "$work/rootfs.img" "$iso/images/pxeboot/"
truncate -s 262144 "$iso/images/ignition.img"
grub=$'set timeout=0\nmenuentry live {\n  linux /images/pxeboot/vmlinuz '
config "$grub" $'  initrd /images/pxeboot/initrd.img /images/ignition.img\n}\n' >"$iso/EFI/fedora/grub.cfg"
echo '{"file":"images/ignition.img"}' >"$iso/coreos/igninfo.json"
echo '{"installer-config":true,"live-initrd-network":true}' >"$iso/coreos/features.json"
echo '{"default":"'"$args"'","files":[{"path":"EFI/fedora/grub.cfg","offset":'${#grub}',"pad":"#","end":"\n"}],"size":'$size'}' >"$iso/coreos/kargs.json"

cat >"$work/grub-embedded.cfg" <<GRUB
search --no-floppy --set=root --label $label
set prefix=(\$root)/EFI/fedora
configfile \$prefix/grub.cfg
GRUB
grub-mkimage -d "$work/packages/usr/lib/grub/arm64-efi" -O arm64-efi -o "$work/BOOTAA64.EFI" -c "$work/grub-embedded.cfg" -p /EFI/fedora \
  iso9660 fat part_gpt normal configfile linux search search_label ls test
truncate -s 4M "$iso/images/efiboot.img"
mformat -i "$iso/images/efiboot.img" ::
mmd -i "$iso/images/efiboot.img" ::/EFI ::/EFI/BOOT
mcopy -i "$iso/images/efiboot.img" "$work/BOOTAA64.EFI" ::/EFI/BOOT/BOOTAA64.EFI

# What firmware knows by its place comes first, as on real media.
xorriso -as mkisofs -quiet -iso-level 1 -J -joliet-long -R -V "$label" -sysid LINUX -o "$out/live.iso" \
  --sort-weight 10 /images/efiboot.img -c images/boot.cat -e images/efiboot.img -no-emul-boot "$iso"
rm -rf "$work"
