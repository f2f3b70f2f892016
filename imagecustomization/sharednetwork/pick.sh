#!/bin/bash
# Gives this machine its network, out of those of all machines that the image is for:
# the one that names the address of one of its cards. Without one, DHCP stays.
set -u
networks="${1:-/etc/assisted/network}"
target="${2:-/etc/coreos-firstboot-network}"
cards="${3:-/sys/class/net}"
pause="${PAUSE:-1}"

addresses() {
    local file address
    for file in "$cards"/*/address; do
        if [ -r "$file" ] && read -r address < "$file"; then
            printf '%s ' "${address,,}"
        fi
    done
}

pick() {
    local dir mac
    for dir in "$networks"/host*/; do
        while IFS='=' read -r mac _; do
            case " $1" in
            *" ${mac,,} "*)
                mkdir -p "$target" && cp "$dir"*.nmconnection "$target/" && echo "network of ${dir}, by the card $mac"
                return
                ;;
            esac
        done < "${dir}mac_interface.ini"
    done
    return 1
}

sleep "${DISCOVERY_DELAY_SECONDS:-0}"
# Cards appear one after the other: none is missing once there was no new one for three pauses.
seen='' calm=0
for ((i = 0; i < 30 && calm < 3; i++)); do
    now="$(addresses)"
    if pick "$now"; then
        exit 0
    fi
    if [ "$now" = "$seen" ]; then
        calm=$((calm + 1))
    else
        calm=0
    fi
    seen="$now"
    sleep "$pause"
done
echo "no network names a card of this machine: $seen"
