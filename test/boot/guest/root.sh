# Part of make.sh: the root file system of the live system.

# make_root makes a Debian with systemd and NetworkManager in $work/root, and packs it the way CoreOS does: a cpio
# archive that holds one file, root.squashfs.
make_root() {
  root=$work/root
  mmdebstrap --variant=minbase --include=systemd-sysv,dbus,udev,kmod,network-manager,iproute2 \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/i18n/*' \
    --quiet "$suite" "$root"
  rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/* "$root"/etc/resolv.conf "$root"/usr/share/perl* "$root"/usr/lib/udev/hwdb*
  add_modules "$root" bonding 8021q bridge virtio_net virtio_pci ipv6 af_packet
  cp -a "$here/rootfs/." "$root/"
  # As on CoreOS, /usr/local is a link to /var that nobody has made yet.
  rm -rf "$root/usr/local"
  ln -s ../var/usrlocal "$root/usr/local"
  echo ironflow-boot-test >"$root/etc/hostname"
  echo 0123456789abcdef0123456789abcdef >"$root/etc/machine-id"
  # An emulated processor is slow: nothing runs that no test looks at.
  for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
    getty.target getty@.service serial-getty@.service console-getty.service remote-fs.target \
    ldconfig.service NetworkManager-wait-online.service NetworkManager-dispatcher.service \
    systemd-timesyncd.service systemd-pstore.service systemd-update-utmp.service systemd-update-utmp-runlevel.service \
    systemd-logind.service systemd-user-sessions.service systemd-random-seed.service systemd-binfmt.service \
    systemd-journal-flush.service systemd-journal-catalog-update.service systemd-machine-id-commit.service \
    systemd-modules-load.service kmod-static-nodes.service \
    dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-fs-fuse-connections.mount \
    sys-kernel-config.mount proc-sys-fs-binfmt_misc.automount; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
  done
  chroot "$root" systemctl enable --quiet report.service
  mksquashfs "$root" "$work/root.squashfs" -noappend -quiet -no-progress -no-xattrs -comp lz4 >/dev/null
  (cd "$work" && echo root.squashfs | cpio --quiet -o -H newc --reproducible >rootfs.img)
}
