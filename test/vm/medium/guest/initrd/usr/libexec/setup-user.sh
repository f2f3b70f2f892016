#!/bin/sh
# On the live system the config was embedded and lies in the initrd; on the installed one coreos-installer has put it on /boot.
set -eu
config=/config.ign
if ! is-live-image; then
    boot=/dev/disk/by-label/boot
    # A path that is mounted could become no part of the multipath disk.
    ! grep -q rd.multipath= /proc/cmdline || boot=/dev/disk/by-label/dm-mpath-boot
    for _ in $(seq 300); do
        [ -e $boot ] && break
        sleep 0.2
    done
    mkdir -p /run/boot
    mount -t ext4 -o ro $boot /run/boot
    config=/run/boot/ignition/config.ign
fi
if [ -e "$config" ]; then
    cp "$config" /usr/lib/ignition/user.ign
    sha256sum <"$config" | cut -d ' ' -f 1 >/run/ignition-config.sha256
fi
