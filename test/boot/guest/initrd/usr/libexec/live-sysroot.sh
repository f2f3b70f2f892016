#!/bin/sh
# Mounts the live system, and hands on what was embedded in the image: the report looks at it.
set -eu -o pipefail
. /usr/libexec/live-lower.sh

for module in sr_mod ahci ata_piix isofs loop squashfs overlay virtio_pci virtio_net af_packet; do
    modprobe "$module"
done
mount_lower
mkdir -p /run/live/space
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
