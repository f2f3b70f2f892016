#!/usr/bin/env bash
# Fetches what a guest needs beside the test binary: Debian's kernel, and the modules for links, disks and shared files.
#   make.sh OUT
# OUT then holds vmlinuz and modules/NN-NAME.ko, numbered in the order in which they must be loaded. Nothing is installed.
# Needs Debian's apt, and modprobe and depmod (kmod).
set -euo pipefail
out=$(realpath "${1:?usage: make.sh OUT}")
work=$out/work
mkdir -p "$work" "$out/modules"

kernel=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-6/ {print $2; exit}')
(cd "$work" && apt-get download -qq "$kernel" 2>&1 | grep -v 'performed unsandboxed' || true)
dpkg-deb -x "$work"/*.deb "$work/root"
cp "$work"/root/boot/vmlinuz-* "$out/vmlinuz"

release=$(basename "$work"/root/lib/modules/*)
depmod -b "$work/root" "$release"
number=100
links=(af_packet bridge veth bonding 8021q tun macvlan)
disks=(loop dm_mod nbd ext4 vfat nls_ascii nls_cp437)
files=(virtio_pci 9pnet_virtio 9p overlay)
modprobe -d "$work/root" -S "$release" -a --show-depends "${links[@]}" "${disks[@]}" "${files[@]}" |
  awk '$1 == "insmod" && !seen[$2]++ {print $2}' | while read -r file; do
    name=$(basename "$file" .xz)
    case $file in
    *.xz) xz -dc "$file" >"$out/modules/$number-$name" ;;
    *) cp "$file" "$out/modules/$number-$name" ;;
    esac
    number=$((number + 1))
  done
rm -rf "$work"
