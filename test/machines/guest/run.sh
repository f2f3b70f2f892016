#!/usr/bin/env bash
# Starts a guest that records itself, and writes the recording.
#   run.sh MACHINE ROOTS OUT      a file of machines/, the folder with a guest of root.sh for each architecture, the folder of the recording
# A machine's file sets: arch, qemu (its arguments), setup (what its guest does before the recording), and may define prepare, which runs
# before QEMU in a scratch folder and adds the processes that it starts to the list started. Needs QEMU; without KVM a guest takes minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
machine=$1 roots=$(realpath "$2") out=$(realpath -m "$3")
work=$(mktemp -d)
started=()
finish() {
  [ ${#started[@]} = 0 ] || kill -KILL "${started[@]}" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
cd "$work"
arch=amd64 console_arguments=(-serial file:console) qemu=() setup= cmdline=
disk() { truncate -s "$2" "$1"; }
source "$here/machines/$machine"
! declare -F prepare >/dev/null || prepare
case $arch in
amd64) program=qemu-system-x86_64 accel=${accel:-tcg} console=ttyS0 serial=virtio-serial-pci ;;
arm64) program=qemu-system-aarch64 accel=tcg console=ttyAMA0 serial=virtio-serial-pci ;;
s390x) program=qemu-system-s390x accel=tcg console=ttysclp0 serial=virtio-serial-ccw ;;
esac
mkdir extra && printf '%s\n' "$setup" >extra/setup
(cd "$roots/$arch/root" && find . | cpio --quiet -o -H newc) >initrd
(cd extra && find . -type f | cpio --quiet -o -H newc) >>initrd
: >bundle
timeout 900 $program -accel "$accel" -nographic -nodefaults -no-reboot -m "${memory:-1024}" "${console_arguments[@]}" \
  -kernel "$roots/$arch/kernel" -initrd initrd -append "console=$console panic=-1 net.ifnames=0 $cmdline" \
  -device $serial -chardev file,id=record,path=bundle -device virtserialport,chardev=record,name=record \
  "${qemu[@]}" || { tail -30 console; exit 1; }
[ -s bundle ] || { tail -60 console; exit 1; }
"$here/unpack.sh" bundle "$out"
! grep -a 'COMPARISON FAILED' -B 20 console
grep -a 'the same' console || true
