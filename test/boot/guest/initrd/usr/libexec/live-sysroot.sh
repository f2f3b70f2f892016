#!/bin/sh
# Finds the root file system as the initrd of CoreOS does: on the medium of the label coreos.liveiso, or by HTTP from
# coreos.live.rootfs_url; then hands on what was embedded in the image.
set -eu -o pipefail

arg() { tr ' ' '\n' </proc/cmdline | sed -n "s|^$1=||p" | tail -n 1; }

for module in sr_mod ahci ata_piix isofs loop squashfs overlay virtio_pci virtio_net af_packet; do
    modprobe "$module"
done
mkdir -p /run/live/lower /run/live/space /run/live/medium
url=$(arg coreos.live.rootfs_url)
if [ -n "$url" ]; then
    ip link set eth0 up
    udhcpc -i eth0 -n -q -t 20 -s /usr/libexec/dhcp.sh
    mount -t tmpfs tmpfs /run/live/medium
    (cd /run/live/medium && wget -q -O - "$url" | cpio -i)
    mount -o loop -t squashfs /run/live/medium/root.squashfs /run/live/lower
    # NetworkManager is to find the interface untouched.
    ip addr flush dev eth0
    ip link set eth0 down
else
    label=$(arg coreos.liveiso)
    for _ in $(seq 100); do
        device=$(findfs "LABEL=$label" 2>/dev/null) && break
        sleep 0.2
    done
    mount -o ro -t iso9660 "$device" /run/live/medium
    # The archive holds one file, whose content begins behind a header of 110 and a name of 14 bytes.
    losetup -r -o 124 /dev/loop0 /run/live/medium/images/pxeboot/rootfs.img
    mount -o ro -t squashfs /dev/loop0 /run/live/lower
fi
mount -t tmpfs tmpfs /run/live/space
mkdir /run/live/space/upper /run/live/space/work
mount -t overlay -o lowerdir=/run/live/lower,upperdir=/run/live/space/upper,workdir=/run/live/space/work overlay /sysroot

mkdir -p /run/report /sysroot/etc/NetworkManager/system-connections
[ ! -e /config.ign ] || cp /config.ign /run/report/
for keyfile in /etc/coreos-firstboot-network/*.nmconnection; do
    [ -e "$keyfile" ] || continue
    cp "$keyfile" /sysroot/etc/NetworkManager/system-connections/
    chmod 0600 "/sysroot/etc/NetworkManager/system-connections/$(basename "$keyfile")"
done
