#!/bin/busybox sh
# What the kernel and the boot loader handed over, for the boot tests; see test/boot/report.go.
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t devtmpfs dev /dev
exec >/dev/console 2>&1
sum() { $b sha256sum "$1" | $b cut -d' ' -f1; }
echo "REPORT cmdline $($b cat /proc/cmdline)"
[ ! -e /config.ign ] || echo "REPORT ignition $(sum /config.ign)"
for f in /etc/coreos-firstboot-network/*; do
  [ ! -e "$f" ] || echo "REPORT keyfile $($b basename "$f") $(sum "$f")"
done
echo "REPORT end"
$b sleep 1
$b poweroff -f
