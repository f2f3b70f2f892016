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

# kernel_name prints the name that the kernel gives the card with an address.
kernel_name() {
    local file address
    for file in "$cards"/*/address; do
        if [ -r "$file" ] && read -r address < "$file" && [ "${address,,}" = "${1,,}" ]; then
            file="${file%/address}"
            printf '%s' "${file##*/}"
            return
        fi
    done
}

# named tells whether a keyfile names a card: NetworkManager finds cards by their
# addresses, but for the primary port of a bond and the card of a routing rule.
named() { [[ $(< "$1") == *$'\n'primary=* || $(< "$1") == *" iif "* ]]; }

# take copies a keyfile, with the kernel's names where NetworkManager wants them.
take() {
    local line
    cp "$1" "$target/" || return
    named "$1" || return 0
    while IFS= read -r line || [ -n "$line" ]; do
        if [[ $line =~ ^(primary=)(.+)()$ || $line =~ ^(routing-rule[0-9]+=.*\ iif\ )([^ ]+)(.*)$ ]]; then
            line="${BASH_REMATCH[1]}${names[${BASH_REMATCH[2]}]:-${BASH_REMATCH[2]}}${BASH_REMATCH[3]}"
        fi
        printf '%s\n' "$line"
    done < "$1" > "$target/${1##*/}"
}

# take_all takes the keyfiles of one machine. As long as cards may still appear, it does
# not while one is missing that a keyfile names.
take_all() {
    local mac name file missing='' asked=''
    local -A names=()
    while IFS='=' read -r mac name; do
        names[$name]="$(kernel_name "$mac")"
        [ -n "${names[$name]}" ] || missing="$missing $name"
    done < "${1}mac_interface.ini"
    for file in "$1"*.nmconnection; do
        [ -e "$file" ] && named "$file" && asked=yes
    done
    [ -z "$missing" ] || [ -z "$asked" ] || [ "$2" = last ] || return 1
    mkdir -p "$target" || return
    for file in "$1"*.nmconnection; do
        [ ! -e "$file" ] || take "$file" || return
    done
}

pick() {
    local dir mac
    for dir in "$networks"/host*/; do
        while IFS='=' read -r mac _; do
            case " $1" in
            *" ${mac,,} "*)
                take_all "$dir" "$2" && echo "network of ${dir}, by the card $mac"
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
    if pick "$now" early; then
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
if pick "$(addresses)" last; then
    exit 0
fi
echo "no network names a card of this machine: $seen"
