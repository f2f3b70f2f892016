# Part of make.sh: the initrd of live and installed system, with the Ignition engine and its own units.

# make_initrd makes $work/initrd.img, and puts it into the root file system, from where it gets to the installed system's /boot.
make_initrd() {
  local tree=$work/initrd dir=$packages/usr/lib/dracut/modules.d/30ignition unit rule
  new_initrd "$tree"
  kernel_modules "$tree" sr_mod sd_mod ahci ata_piix usb_storage uas xhci_pci ehci_pci uhci_hcd virtio_pci virtio_blk virtio_scsi \
    virtio_net virtio_console virtio_rng nvme e1000 e1000e isofs loop squashfs overlay ext4 vfat nls_ascii nls_cp437 nls_utf8 \
    efivarfs dm_mod dm_multipath dm_service_time raid0 raid1 iscsi_tcp iscsi_ibft af_packet
  # Devices and the journal.
  add_programs "$tree" /usr/bin/udevadm /usr/lib/systemd/systemd-journald /usr/bin/journalctl /usr/lib/udev/ata_id \
    /usr/lib/udev/scsi_id /usr/lib/udev/cdrom_id /usr/bin/kmod
  ln -s ../../bin/udevadm "$tree/usr/lib/systemd/systemd-udevd"
  add_units "$tree" systemd-udevd.service systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-udev-trigger.service \
    initrd-udevadm-cleanup-db.service systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket network.target
  mkdir -p "$tree/usr/lib/udev/rules.d" "$tree"/usr/lib/systemd/system/{sysinit,sockets}.target.wants
  for rule in 50-udev-default 60-block 60-cdrom_id 60-persistent-storage 80-drivers 99-systemd; do
    cp "$root/usr/lib/udev/rules.d/$rule.rules" "$tree/usr/lib/udev/rules.d/"
  done
  for unit in systemd-udevd.service systemd-udev-trigger.service systemd-journald.service; do
    ln -s "../$unit" "$tree/usr/lib/systemd/system/sysinit.target.wants/$unit"
  done
  for unit in systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-journald.socket systemd-journald-dev-log.socket; do
    ln -s "../$unit" "$tree/usr/lib/systemd/system/sockets.target.wants/$unit"
  done
  # The engine as its package has it for dracut, with the programs that its stages call.
  add_programs "$tree" /usr/bin/bash /usr/bin/lsblk /usr/sbin/sgdisk /usr/sbin/mkfs.ext4 /usr/sbin/mkfs.fat /usr/sbin/mkswap \
    /usr/sbin/wipefs /usr/sbin/useradd /usr/sbin/usermod /usr/sbin/userdel /usr/sbin/groupadd /usr/sbin/groupdel /usr/bin/mount /usr/bin/umount
  install -m 0755 "$dir/ignition" "$tree/usr/bin/ignition"
  install -D -m 0755 "$dir/ignition-generator" "$tree/usr/lib/systemd/system-generators/ignition-generator"
  cp "$dir"/*.rules "$tree/usr/lib/udev/rules.d/"
  cp "$dir"/*.service "$dir"/*.target "$tree/usr/lib/systemd/system/"
  mkdir -p "$tree/usr/lib/systemd/system/initrd.target.wants"
  add_multipath "$tree"
  # What dracut has for rd.iscsi.firmware=1.
  add_programs "$tree" /usr/sbin/iscsistart
  ln -s ../iscsi-firmware.service "$tree/usr/lib/systemd/system/initrd.target.wants/iscsi-firmware.service"
  cp -a "$here/initrd/." "$tree/"
  chmod 0755 "$tree"/usr/bin/{is-live-image,setfiles}
  for unit in fetch fetch-offline disks mount files; do require "$tree" ignition-complete.target "ignition-$unit.service"; done
  require "$tree" ignition-diskful.target ignition-remount-sysroot.service
  require "$tree" ignition-complete.target coreos-ignition-setup-user.service
  require "$tree" ignition-complete.target coreos-copy-firstboot-network.service
  require "$tree" ignition-complete.target coreos-propagate-network.service
  require "$tree" initrd-root-fs.target live-sysroot.service
  # Passwords and groups for programs that look them up before the root file system is there.
  printf 'root:x:0:0:root:/root:/bin/sh\n' >"$tree/etc/passwd"
  grep -E '^(root|disk|cdrom|tty|tape|kmem|input|audio|video|lp|render|sgx|dialout|kvm|systemd-journal):' "$root/etc/group" >"$tree/etc/group"
  printf 'passwd: files\ngroup: files\n' >"$tree/etc/nsswitch.conf"
  pack_initrd "$tree" zstd -q -9
  cp "$work/initrd.img" "$root/usr/lib/modules/$release/initramfs.img"
}

# add_multipath TREE adds what dracut has for rd.multipath=default: multipathd, and udev's rules of the device mapper. The units say
# when they start.
add_multipath() {
  local tree=$1 rule unit
  add_programs "$tree" /usr/sbin/multipathd /usr/sbin/multipath /usr/sbin/kpartx /usr/sbin/dmsetup
  mkdir -p "$tree/usr/lib/multipath" "$tree/etc/multipath"
  add_programs "$tree" /usr/lib/multipath/libcheckdirectio.so
  cp "$root"/usr/lib/multipath/*.so "$tree/usr/lib/multipath/"
  cp "$root/usr/lib/udev/kpartx_id" "$tree/usr/lib/udev/"
  for rule in 55-dm 56-dm-mpath 56-dm-parts 60-kpartx 60-multipath 60-persistent-storage-dm 95-dm-notify; do
    cp "$root/usr/lib/udev/rules.d/$rule.rules" "$tree/usr/lib/udev/rules.d/"
  done
  cp "$here/rootfs/usr/lib/udev/rules.d/90-coreos-device-mapper.rules" "$tree/usr/lib/udev/rules.d/"
  add_units "$tree" multipathd.service
  for unit in multipathd-configure multipathd coreos-propagate-multipath-conf; do
    ln -s "../$unit.service" "$tree/usr/lib/systemd/system/initrd.target.wants/$unit.service"
  done
}

# require TREE TARGET UNIT lets the target need the unit.
require() {
  mkdir -p "$1/usr/lib/systemd/system/$2.requires"
  ln -s "../$3" "$1/usr/lib/systemd/system/$2.requires/$3"
}
