# Part of make.sh: the root file system of live and installed system.

# modules are those of machines that QEMU can be, and those that podman, IPA, our network settings, and a node of Kubernetes need.
modules=(sr_mod sd_mod ahci ata_piix usb_storage uas xhci_pci ehci_pci uhci_hcd virtio_pci virtio_blk virtio_scsi virtio_net
  virtio_console virtio_rng nvme e1000 e1000e isofs loop squashfs overlay ext4 xfs vfat nls_ascii nls_cp437 nls_utf8 efivarfs
  dm_mod dm_multipath dm_service_time dm_crypt raid0 raid1 raid10 raid456 iscsi_tcp iscsi_ibft af_packet ipv6 bonding 8021q bridge vlan veth macvlan dummy tun
  fuse ipmi_si ipmi_devintf tpm_tis tpm_crb sg binfmt_misc nf_tables nft_chain_nat nft_compat xt_comment xt_conntrack ip_tables
  iptable_filter iptable_nat br_netfilter xt_nat xt_MASQUERADE xt_REDIRECT xt_mark xt_addrtype xt_statistic xt_multiport xt_tcpudp xt_recent
  nft_masq nft_nat nft_redir nft_ct nft_limit nft_log nft_reject_inet nft_fib_inet nft_hash nft_numgen
  ipt_REJECT ip6t_REJECT nfnetlink_acct xt_nfacct xt_limit)

# make_root makes $work/root out of the packages, with the ways of CoreOS that our images rely on.
make_root() {
  root=$work/root
  cp -a "$base/root" "$root"
  # Programs for people and languages that nothing on a host uses; without them everything is read faster.
  rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/* "$root"/var/lib/dpkg/info/* "$root"/etc/resolv.conf \
    "$root"/usr/share/perl* "$root"/usr/lib/x86_64-linux-gnu/perl* "$root"/usr/lib/python3* "$root"/usr/lib/udev/hwdb* \
    "$root"/usr/lib/x86_64-linux-gnu/libicu* "$root"/usr/sbin/xfs_scrub* "$root"/usr/lib/cni "$root"/boot/*
  kernel_modules "$root" "${modules[@]}"
  install -m 0755 "$installer" "$root/usr/bin/coreos-installer"
  strip "$root/usr/bin/coreos-installer"
  cp -a "$here/rootfs/." "$root/"
  chmod 0755 "$root"/usr/libexec/*.sh "$root/usr/lib/systemd/system-generators/coreos-boot-mount-generator"
  layout
  services
  # Nobody has started this system before: systemd then enables what presets say, Ignition's among them.
  rm -f "$root/etc/machine-id" "$root/var/lib/dbus/machine-id" "$root/etc/hostname"
}

# kernel_modules ROOT NAME... adds the modules that this kernel does not have built in.
kernel_modules() {
  local into=$1 name have=()
  shift
  depmod -b "$packages" "$release"
  for name in "$@"; do
    ! modprobe -d "$packages" -S "$release" --show-depends "$name" >/dev/null 2>&1 || have+=("$name")
  done
  add_modules "$into" "${have[@]}"
}

# layout makes folders what they are on CoreOS: what changes lies below /var, and the folders of there are made at the first start.
layout() {
  local pair
  for pair in usr/local:../var/usrlocal opt:var/opt home:var/home; do
    rm -rf "$root/${pair%%:*}"
    ln -s "${pair##*:}" "$root/${pair%%:*}"
  done
  mkdir -p "$root/var/opt" "$root/var/home" "$root/sysroot"
  ln -s ../ostree "$root/sysroot/ostree"
  # Names of files and services that our images use.
  mv "$root/etc/chrony/chrony.conf" "$root/etc/chrony.conf"
  ln -s ../chrony.conf "$root/etc/chrony/chrony.conf"
  mkdir -p "$root/etc/pki/ca-trust/source/anchors" "$root/etc/motd.d"
  install -D -m 0644 "$packages/boot/vmlinuz-$release" "$root/usr/lib/modules/$release/vmlinuz"
  # kubeadm reads which features the kernel has.
  install -D -m 0644 "$packages/boot/config-$release" "$root/usr/lib/modules/$release/config"
}

# services leaves what is enabled on CoreOS, and masks what no image of ours uses: an emulated processor is slow.
services() {
  local unit
  rm -rf "$root"/etc/init.d "$root"/etc/rc?.d
  chroot "$root" systemctl disable --quiet podman.service podman.socket podman-auto-update.service podman-auto-update.timer podman-restart.service \
    open-iscsi.service iscsid.service iscsid.socket nvmefc-boot-connections.service nvmf-autoconnect.service uuidd.socket remote-fs.target smartmontools.service
  rm -rf "$root/usr/lib/systemd/system-preset/90-systemd.preset" "$root/usr/lib/modules-load.d/multipath.conf"
  # Each unit that is there is looked at in the first boot, and each generator runs in every boot.
  rm -rf "$root"/usr/lib/systemd/system-generators/systemd-{cryptsetup,debug,getty,gpt-auto,hibernate-resume,integritysetup,rc-local,run,system-update,sysv,veritysetup}-generator \
    "$root"/usr/lib/systemd/system/{systemd-network*,systemd-hibernate*,systemd-suspend*,systemd-hybrid*,systemd-pcrphase*,systemd-rfkill*,systemd-backlight*,systemd-repart*,systemd-sysext*,systemd-initctl*,e2scrub*,apt-daily*,x11-common*,smartmontools*,uuidd*}
  for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
    getty.target getty@.service serial-getty@.service console-getty.service \
    ldconfig.service systemd-sysusers.service systemd-firstboot.service systemd-timesyncd.service systemd-pstore.service systemd-update-utmp.service systemd-update-utmp-runlevel.service \
    systemd-random-seed.service systemd-binfmt.service systemd-journal-catalog-update.service \
    dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-fs-fuse-connections.mount \
    proc-sys-fs-binfmt_misc.automount \
    mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer smartmontools.service xfs_scrub_all.timer; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
  done
}

# make_rootfs packs the root file system the way CoreOS does: a cpio archive that holds one file, root.squashfs.
make_rootfs() {
  mksquashfs "$root" "$work/root.squashfs" -noappend -quiet -no-progress -no-xattrs -comp lz4 >/dev/null
  (cd "$work" && echo root.squashfs | cpio --quiet -o -H newc --reproducible >rootfs.img)
}
