# The initrd, with systemd as CoreOS has it.

# new_initrd TREE makes the folder with systemd and its targets out of the root file system, and busybox for the rest.
new_initrd() {
  local tree=$1 unit program
  mkdir -p "$tree"/usr/{bin,lib64,lib/systemd/system,libexec} "$tree"/{etc,proc,sys,dev,run,tmp,sysroot}
  ln -s usr/bin "$tree/bin"
  ln -s usr/bin "$tree/sbin"
  ln -s bin "$tree/usr/sbin"
  ln -s usr/lib "$tree/lib"
  ln -s usr/lib64 "$tree/lib64"
  ln -s usr/lib/systemd/systemd "$tree/init"
  add_programs "$tree" /usr/lib/systemd/systemd /usr/lib/systemd/systemd-shutdown /usr/bin/systemctl \
    /usr/lib/systemd/system-generators/systemd-fstab-generator
  add_units "$tree" basic.target sysinit.target local-fs.target local-fs-pre.target swap.target slices.target sockets.target \
    timers.target paths.target shutdown.target umount.target final.target emergency.target \
    initrd.target initrd-fs.target initrd-root-device.target initrd-root-fs.target initrd-usr-fs.target \
    initrd-parse-etc.service initrd-cleanup.service initrd-switch-root.service initrd-switch-root.target
  ln -s initrd.target "$tree/usr/lib/systemd/system/default.target"
  cp "$packages/bin/busybox" "$tree/usr/bin/"
  for program in $("$packages/bin/busybox" --list); do
    [ -e "$tree/usr/bin/$program" ] || ln -s busybox "$tree/usr/bin/$program"
  done
  cp "$root/etc/os-release" "$tree/etc/initrd-release"
  cp "$root/etc/os-release" "$tree/etc/os-release"
  : >"$tree/etc/machine-id"
  cp -a "$parts/initrd/." "$tree/"
}

# pack_initrd TREE COMPRESSOR... packs $work/initrd.img.
pack_initrd() {
  local tree=$1
  shift
  chmod 0755 "$tree"/usr/libexec/*.sh
  (cd "$tree" && find . | LC_ALL=C sort | cpio --quiet -o -H newc --reproducible -R 0:0 | "$@" >"$work/initrd.img")
}

# add_units TREE NAME... copies units of the root file system.
add_units() {
  local tree=$1 unit
  shift
  for unit in "$@"; do cp -a "$root/usr/lib/systemd/system/$unit" "$tree/usr/lib/systemd/system/"; done
}

# add_programs TREE PATH... copies programs of the root file system with their libraries. A program that busybox has, too, takes its place.
add_programs() {
  local tree=$1 path file
  shift
  for path in "$@"; do
    { echo "$path"; chroot "$root" ldd "$path" | grep -oE '/[^ ]+'; } | while read -r file; do
      [ ! -L "$tree/$file" ] || [ "$(readlink "$tree/$file")" != busybox ] || rm "$tree/$file"
      [ -e "$tree/$file" ] || { mkdir -p "$tree/$(dirname "$file")" && cp -L "$root/$file" "$tree/$file"; }
    done
  done
}
