#!/bin/sh
# Mounts the live system as CoreOS has it: /usr read-only from the medium, /var in memory, the rest an overlay in memory.
set -eu -o pipefail
. /usr/libexec/live-lower.sh

udevadm settle || true
modprobe -a loop squashfs overlay isofs || true
mount_lower
mkdir -p /run/live/space
mount -t tmpfs -o mode=0755 tmpfs /run/live/space
mkdir -p /run/live/space/upper /run/live/space/work
mount -t overlay -o lowerdir=/run/live/lower,upperdir=/run/live/space/upper,workdir=/run/live/space/work overlay /sysroot
mount --bind /run/live/lower/usr /sysroot/usr
# The storage of containers lies there, and cannot be on an overlay.
mount -t tmpfs -o mode=0755,size=80% tmpfs /sysroot/var
cp -a /run/live/lower/var/. /sysroot/var/
# The image that coreos-installer writes without a download.
mkdir -p /run/coreos-installer/osmet
mount --bind /run/live/lower/usr/lib/coreos-osmet /run/coreos-installer/osmet
