# Part of make.sh: the initrd.

# make_initrd makes $work/initrd.img: systemd and one script that finds the root file system.
make_initrd() {
  local tree=$work/initrd
  new_initrd "$tree"
  add_modules "$tree" sr_mod ahci ata_piix isofs loop squashfs overlay virtio_pci virtio_net af_packet
  cp -a "$here/initrd/." "$tree/"
  mkdir -p "$tree/usr/lib/systemd/system/initrd-root-fs.target.requires"
  ln -s ../live-sysroot.service "$tree/usr/lib/systemd/system/initrd-root-fs.target.requires/"
  pack_initrd "$tree" gzip -6n
}
