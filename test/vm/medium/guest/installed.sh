# Part of make.sh: the disk image of the installed system, partitioned and booted as CoreOS is.

# Sectors of 512 bytes.
bios_start=2048 efi_start=4096 boot_start=20480 boot_size=204800

# make_installed writes $out/installed.raw.
make_installed() {
  local disk=$out/installed.raw root_start=$((boot_start + boot_size)) root_size
  link_objects
  # What is in it, with a third more for what an ext4 needs and the first boot writes.
  root_size=$(($(du -s --block-size=512 "$root" | cut -f 1) * 4 / 3 / 2048 * 2048 + 131072))
  truncate -s $(((root_start + root_size + 2048) * 512)) "$disk"
  sfdisk --quiet "$disk" <<TABLE
label: gpt
start=$bios_start, size=2048, type=21686148-6449-6E6F-744E-656564454649, name=BIOS-BOOT
start=$efi_start, size=16384, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, name=EFI-SYSTEM
start=$boot_start, size=$boot_size, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4, name=boot
start=$root_start, size=$root_size, type=4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709, name=root
TABLE
  make_esp
  make_boot
  filesystem boot "$work/boot" $((boot_size / 2))
  filesystem root "$root" $((root_size / 2))
  place "$work/esp.img" $efi_start
  place "$work/boot.img" $boot_start
  place "$work/root.img" $root_start
  rm "$work/boot.img" "$work/root.img"
  make_bios
}

# place FILE SECTOR copies a file into the disk image; holes stay holes.
place() { dd if="$1" of="$out/installed.raw" bs=512 seek="$2" conv=notrunc,sparse status=none; }

# filesystem LABEL FOLDER KIB makes $work/LABEL.img.
filesystem() {
  truncate -s "${3}K" "$work/$1.img"
  mkfs.ext4 -q -L "$1" -d "$2" -E lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0 -J size=8 -O ^metadata_csum_seed,^orphan_file "$work/$1.img"
}

# make_boot makes the folder of /boot: GRUB, kernel, initrd, the stamp of the first boot, and an entry that coreos-installer edits.
make_boot() {
  local boot=$work/boot target
  mkdir -p "$boot"/{grub2,loader/entries,ostree/fedora-coreos}
  cp "$root/usr/lib/modules/$release/vmlinuz" "$boot/ostree/fedora-coreos/vmlinuz-$release"
  cp "$root/usr/lib/modules/$release/initramfs.img" "$boot/ostree/fedora-coreos/initramfs-$release.img"
  cp "$here/grub.cfg" "$boot/grub2/grub.cfg"
  : >"$boot/ignition.firstboot"
  for target in i386-pc x86_64-efi; do
    mkdir "$boot/grub2/$target"
    cp "$packages/usr/lib/grub/$target"/*.mod "$boot/grub2/$target/"
  done
  cat >"$boot/loader/entries/ostree-1-fedora-coreos.conf" <<ENTRY
title CoreOS layout of Debian packages
version 1
options ${kernel[*]} \$ignition_firstboot ignition.platform.id=metal root=LABEL=root rw
linux /ostree/fedora-coreos/vmlinuz-$release
initrd /ostree/fedora-coreos/initramfs-$release.img
ENTRY
}

# core TARGET FILE MODULE... makes GRUB's core, which finds the rest on the file system labelled boot.
core() {
  local target=$1 file=$2
  shift 2
  cat >"$work/core.cfg" <<'GRUB'
search --no-floppy --set=root --label boot
set prefix=($root)/grub2
configfile $prefix/grub.cfg
GRUB
  grub-mkimage -d "$packages/usr/lib/grub/$target" -O "$target" -o "$file" -c "$work/core.cfg" -p /grub2 \
    part_gpt ext2 normal configfile search search_label test true "$@"
}

# make_esp makes the FAT of the EFI system partition, with the loader at the fall-back path.
make_esp() {
  core x86_64-efi "$work/BOOTX64.EFI" fat
  truncate -s 8M "$work/esp.img"
  mformat -i "$work/esp.img" -v EFI-SYSTEM ::
  mmd -i "$work/esp.img" ::/EFI ::/EFI/BOOT
  mcopy -i "$work/esp.img" "$work/BOOTX64.EFI" ::/EFI/BOOT/BOOTX64.EFI
}

# make_bios writes what BIOS boots: the first sector names the sector of GRUB's core in the partition for it, and the core's
# first sector names where its rest lies.
make_bios() {
  local disk=$out/installed.raw
  core i386-pc "$work/core.img" biosdisk
  dd if="$packages/usr/lib/grub/i386-pc/boot.img" of="$disk" bs=1 count=440 conv=notrunc status=none
  little $bios_start | dd of="$disk" bs=1 seek=$((0x5c)) conv=notrunc status=none
  place "$work/core.img" $bios_start
  little $((bios_start + 1)) | dd of="$disk" bs=1 seek=$((bios_start * 512 + 500)) conv=notrunc status=none
}

# little NUMBER prints eight bytes, the least significant first.
little() {
  local i
  for i in 0 8 16 24 32 40 48 56; do printf "\\x$(printf %02x $((($1 >> i) & 255)))"; done
}
