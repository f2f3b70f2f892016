# Part of make.sh: the initrd, with systemd as CoreOS has it.

# make_initrd packs $work/initrd.img out of programs and units of the root file system.
make_initrd() {
  local tree=$work/initrd unit program
  mkdir -p "$tree"/usr/{bin,lib64,lib/systemd/system,libexec} "$tree"/{etc,proc,sys,dev,run,tmp,sysroot}
  ln -s usr/bin "$tree/bin"
  ln -s usr/bin "$tree/sbin"
  ln -s bin "$tree/usr/sbin"
  ln -s usr/lib "$tree/lib"
  ln -s usr/lib64 "$tree/lib64"
  ln -s usr/lib/systemd/systemd "$tree/init"
  for program in /usr/lib/systemd/systemd /usr/lib/systemd/systemd-shutdown /usr/bin/systemctl \
    /usr/lib/systemd/system-generators/systemd-fstab-generator; do
    add_program "$tree" "$program"
  done
  for unit in basic.target sysinit.target local-fs.target local-fs-pre.target swap.target slices.target sockets.target \
    timers.target paths.target shutdown.target umount.target final.target emergency.target \
    initrd.target initrd-fs.target initrd-root-device.target initrd-root-fs.target initrd-usr-fs.target \
    initrd-parse-etc.service initrd-cleanup.service initrd-switch-root.service initrd-switch-root.target; do
    cp -a "$root/usr/lib/systemd/system/$unit" "$tree/usr/lib/systemd/system/"
  done
  ln -s initrd.target "$tree/usr/lib/systemd/system/default.target"
  cp "$packages/bin/busybox" "$tree/usr/bin/"
  for program in $("$packages/bin/busybox" --list); do
    [ -e "$tree/usr/bin/$program" ] || ln -s busybox "$tree/usr/bin/$program"
  done
  cp "$root/etc/os-release" "$tree/etc/initrd-release"
  cp "$root/etc/os-release" "$tree/etc/os-release"
  : >"$tree/etc/machine-id"
  add_modules "$tree" sr_mod ahci ata_piix isofs loop squashfs overlay virtio_pci virtio_net af_packet
  cp -a "$here/initrd/." "$tree/"
  mkdir -p "$tree/usr/lib/systemd/system/initrd-root-fs.target.requires"
  ln -s ../live-sysroot.service "$tree/usr/lib/systemd/system/initrd-root-fs.target.requires/"
  chmod 0755 "$tree"/usr/libexec/*.sh
  (cd "$tree" && find . | LC_ALL=C sort | cpio --quiet -o -H newc --reproducible -R 0:0 | gzip -6n >"$work/initrd.img")
}

# add_program TREE PATH copies a program of the root file system and its libraries.
add_program() {
  local tree=$1 path=$2 file
  { echo "$path"; chroot "$root" ldd "$path" | grep -oE '/[^ ]+'; } | while read -r file; do
    [ -e "$tree/$file" ] || { mkdir -p "$tree/$(dirname "$file")" && cp -L "$root/$file" "$tree/$file"; }
  done
}
