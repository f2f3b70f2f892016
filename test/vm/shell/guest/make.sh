#!/usr/bin/env bash
# Makes a live ISO of Debian's kernel and busybox with a shell on the serial console, out of the ISO of the boot tests,
# whose boot loaders stay.
#   make.sh ISO OUT
# OUT then holds shell.iso. Nothing is installed. Needs Debian's apt, xorriso, cpio, and modprobe and depmod (kmod).
set -euo pipefail
iso=$(realpath "${1:?usage: make.sh ISO OUT}")
out=$(realpath "${2:?usage: make.sh ISO OUT}")
here=$(cd "$(dirname "$0")" && pwd)
work=$out/work
mkdir -p "$work/initrd"/{bin,lib/modules,proc,sys,dev,run,mnt}

kernel=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-6/ {print $2; exit}')
(cd "$work" && apt-get download -qq "$kernel" busybox-static 2>&1 | grep -v 'performed unsandboxed' || true)
for deb in "$work"/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
release=$(basename "$work"/root/lib/modules/*)

# busybox's insmod knows no compressed modules and no order: they are numbered as they must be loaded.
depmod -b "$work/root" "$release"
number=100
modprobe -d "$work/root" -S "$release" -a --show-depends ahci sr_mod sd_mod isofs virtio_pci virtio_blk virtio_scsi virtio_net nvme \
  xhci_pci usb_storage tpm_crb efivarfs af_packet evdev button |
  awk '$1 == "insmod" && !seen[$2]++ {print $2}' | while read -r file; do
    name=$(basename "$file" .xz)
    case $file in
    *.xz) xz -dc "$file" >"$work/initrd/lib/modules/$number-$name" ;;
    *) cp "$file" "$work/initrd/lib/modules/$number-$name" ;;
    esac
    number=$((number + 1))
  done

busybox=$(find "$work/root" -type f -name busybox -path '*bin/busybox')
cp "$busybox" "$work/initrd/bin/"
for program in $("$busybox" --list); do [ -e "$work/initrd/bin/$program" ] || ln -s busybox "$work/initrd/bin/$program"; done
install -m 0755 "$here/init" "$work/initrd/init"
(cd "$work/initrd" && find . | LC_ALL=C sort | cpio --quiet -o -H newc --reproducible -R 0:0 >"$work/initrd.img")

xorriso -indev "$iso" -outdev "$out/shell.iso" -boot_image any replay \
  -update "$work"/root/boot/vmlinuz-* /images/pxeboot/vmlinuz -update "$work/initrd.img" /images/pxeboot/initrd.img \
  -rm /images/pxeboot/rootfs.img -- >"$work/xorriso.log" 2>&1 || { cat "$work/xorriso.log" >&2; exit 1; }
rm -rf "$work"
