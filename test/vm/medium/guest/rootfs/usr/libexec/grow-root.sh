#!/bin/bash
# Grows the root file system to the end of its disk. One on an array, or on a disk of several paths, is left as it is.
set -euo pipefail
root=$(findmnt -no SOURCE /)
part=/sys/class/block/$(basename "$root")
[ -e "$part/partition" ] || exit 0
name=$(lsblk -ndo PKNAME "$root") number=$(cat "$part/partition")
behind=$(($(cat "/sys/class/block/$name/size") - $(cat "$part/start") - $(cat "$part/size")))
# Less than that are the second partition table and what alignment leaves.
if [ "$behind" -gt 16384 ]; then
    echo ', +' | sfdisk --force --no-reread --no-tell-kernel -N "$number" "/dev/$name"
    partx --update --nr "$number" "/dev/$name"
fi
resize2fs "$root"
