#!/bin/sh
# Prints what this system is: host name, the machine's UUID, the SHA-256 of the config that Ignition has applied, and the serial
# number of the disk that it runs from.
set -eu
kept=/var/lib/ignition-config.sha256
[ ! -e /run/ignition-config.sha256 ] || { cp /run/ignition-config.sha256 "$kept" && sync; }
partition=$(findmnt -n -o SOURCE /)
disk=$(lsblk -n -o PKNAME "$partition" | head -n 1)
serial=$(udevadm info --query=property --property=ID_SERIAL_SHORT,ID_SERIAL --value "/dev/$disk" | head -n 1)
echo "INSTALLED host=$(hostname) machine=$(cat /sys/class/dmi/id/product_uuid) ignition=$(cat "$kept" 2>/dev/null || echo none) root=${serial:-$disk}"
