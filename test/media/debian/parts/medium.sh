# The live ISO, laid out as the tool that makes CoreOS media does.

label=fedora-coreos-42.20260102.3.0

# make_medium KERNEL_ARGUMENT... writes $out/live.iso out of $work/initrd.img and $work/rootfs.img. The label is how the boot
# loader and the initrd find the medium, and how tools know a CoreOS medium.
make_medium() {
  local tree=$work/iso args size
  args="$* coreos.liveiso=$label ignition.firstboot ignition.platform.id=metal"
  size=$((${#args} + 1024))
  mkdir -p "$tree"/{coreos,isolinux,images/pxeboot,EFI/fedora}
  cp "$packages/boot/vmlinuz-$release" "$tree/images/pxeboot/vmlinuz"
  cp "$work/initrd.img" "$work/rootfs.img" "$tree/images/pxeboot/"
  truncate -s 262144 "$tree/images/ignition.img"
  cp "$packages/usr/lib/ISOLINUX/isolinux.bin" "$packages"/usr/lib/syslinux/modules/bios/{ldlinux,libcom32,libutil}.c32 "$tree/isolinux/"
  make_efi "$tree/images/efiboot.img"

  local isolinux=$'default linux\nprompt 0\ntimeout 1\nlabel linux\n  kernel /images/pxeboot/vmlinuz\n  append initrd=/images/pxeboot/initrd.img,/images/ignition.img '
  local grub=$'set timeout=0\nmenuentry live {\n  linux /images/pxeboot/vmlinuz '
  config "$isolinux" $'\n' >"$tree/isolinux/isolinux.cfg"
  config "$grub" $'  initrd /images/pxeboot/initrd.img /images/ignition.img\n}\n' >"$tree/EFI/fedora/grub.cfg"
  echo '{"file":"images/ignition.img"}' >"$tree/coreos/igninfo.json"
  echo '{"installer-config":true,"live-initrd-network":true}' >"$tree/coreos/features.json"
  cat >"$tree/coreos/kargs.json" <<JSON
{"default":"$args","files":[
{"path":"EFI/fedora/grub.cfg","offset":${#grub},"pad":"#","end":"\n"},
{"path":"isolinux/isolinux.cfg","offset":${#isolinux},"pad":"#","end":"\n"}],"size":$size}
JSON
  # Files that boot loaders know by their place come first, as on real media.
  xorriso -as mkisofs -quiet -iso-level 1 -J -joliet-long -R -V "$label" -sysid LINUX -o "$out/live.iso" \
    --sort-weight 20 /isolinux --sort-weight 10 /images/efiboot.img \
    -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table \
    -eltorito-alt-boot -e images/efiboot.img -no-emul-boot \
    -isohybrid-mbr "$packages/usr/lib/ISOLINUX/isohdpfx.bin" -isohybrid-gpt-basdat "$tree"
}

# config BEFORE AFTER prints a boot loader's configuration with the area for kernel arguments in between.
config() {
  printf '%s%s\n' "$1" "$args"
  printf '#%.0s' $(seq $((size - ${#args} - 1)))
  printf '# COREOS_KARG_EMBED_AREA\n%s' "$2"
}

# make_efi FILE makes the FAT image that UEFI boots: GRUB, which finds its configuration on the medium by label.
make_efi() {
  cat >"$work/grub-embedded.cfg" <<GRUB
search --no-floppy --set=root --label $label
set prefix=(\$root)/EFI/fedora
configfile \$prefix/grub.cfg
GRUB
  grub-mkimage -d "$packages/usr/lib/grub/x86_64-efi" -O x86_64-efi -o "$work/BOOTX64.EFI" -c "$work/grub-embedded.cfg" -p /EFI/fedora \
    iso9660 fat part_gpt normal configfile linux search search_label ls test
  truncate -s 4M "$1"
  mformat -i "$1" ::
  mmd -i "$1" ::/EFI ::/EFI/BOOT
  mcopy -i "$1" "$work/BOOTX64.EFI" ::/EFI/BOOT/BOOTX64.EFI
}
