#!/usr/bin/env bash
# Makes the root file system and kernel of a guest that records itself, for one architecture, out of Debian packages. Nothing of them is run
# here, so any architecture can be made anywhere.
#   root.sh ARCHITECTURE OUT       amd64, arm64 or s390x; OUT then holds root/ and kernel
# Needs root, mmdebstrap, kmod, and Go for the recorder. Takes a minute or two.
set -euo pipefail
arch=$1 out=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
packages=busybox-static,udev,kmod,iproute2,linux-image-$arch,multipath-tools,kpartx,mdadm,lvm2,open-iscsi,util-linux,mount,e2fsprogs
modules=(virtio_pci virtio_blk virtio_net virtio_scsi virtio_console sd_mod sr_mod sg cdrom isofs vfat nls_cp437 nls_ascii
  nvme ahci ata_piix usb-storage xhci_pci megaraid_sas e1000e tpm_tis tpm_crb ipmi_si ipmi_devintf
  bonding 8021q bridge dm_mod dm_multipath raid1 ext4 dm_round_robin dm_service_time iscsi_tcp iscsi_ibft efivarfs qemu_fw_cfg dmi_sysfs)
mkdir -p "$out"
mmdebstrap --quiet --arch="$arch" --variant=extract --include="$packages" --dpkgopt='path-exclude=/usr/share/*' bookworm "$out/full"
release=$(basename "$out"/full/lib/modules/*)
cp "$out"/full/boot/vmlinu?-* "$out/kernel"
depmod -b "$out/full" "$release"
root=$out/root
mkdir -p "$root"
(cd "$out/full" && cp -a bin sbin lib usr etc "$root/" && { [ ! -e lib64 ] || cp -a lib64 "$root/"; })
rm -rf "$root/lib/modules" "$root/usr/share" "$root"/usr/lib/firmware "$root"/lib/firmware
for module in "${modules[@]}"; do # not all exist everywhere
  modprobe -d "$out/full" -S "$release" --show-depends "$module" 2>/dev/null | awk '$1 == "insmod" {print $2}' || true
done | sort -u | while read -r file; do
  install -D -m 0644 "$file" "$root${file#"$out/full"}"
done
cp "$out/full/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$root/lib/modules/$release/"
depmod -b "$root" "$release"
printf '%s\n' "${modules[@]}" >"$root/modules"
mkdir -p "$root"/{proc,sys,dev,run,tmp,var/lib,mnt}
echo 'options bonding max_bonds=0' >"$root/etc/modprobe.d/guest.conf"
install -m 0755 "$here/init" "$root/init"
(cd "$here" && CGO_ENABLED=0 GOARCH=$arch go build -trimpath -ldflags '-s -w' -o "$root/record" ../record)
rm -rf "$out/full"
