#!/bin/bash
# Sets up what no keyfile can say: the name of the machine, and the network with the live
# system's nmstatectl. What is for this machine has no list of cards, or one with one of
# its cards.
set -u
documents="${1:-/etc/ironflow/nmstate}"
cards="${2:-/sys/class/net}"
issue="${3:-/run/issue.d/70-ironflow-network.issue}"
pause="${PAUSE:-5}"
look="${PAUSE:-1}"

# fail says why there is no network where somebody in front of the machine reads it.
fail() {
    echo "The network is not set up: $1"
    mkdir -p "${issue%/*}"
    echo "The network is not set up: $1" > "$issue"
    exit 1
}

# mine tells whether the machine has one of the cards of a list.
mine() {
    local file address card
    [ -e "$1" ] || return 0
    for file in "$cards"/*/address; do
        if [ -r "$file" ] && read -r address < "$file"; then
            while read -r card; do
                [ "${card,,}" = "${address,,}" ] && return 0
            done < "$1"
        fi
    done
    return 1
}

# wait_for_cards waits until a list names a card of this machine. Cards appear one after the
# other: none is missing once there was no new one for three looks.
wait_for_cards() {
    local i list file address now seen='' calm=0
    for ((i = 0; i < 30 && calm < 3; i++)); do
        for list in "$documents"/*.cards; do
            mine "$list" && return # where there is no list, nobody has to be waited for
        done
        now=''
        for file in "$cards"/*/address; do
            if [ -r "$file" ] && read -r address < "$file"; then
                now="$now $address"
            fi
        done
        if [ "$now" = "$seen" ]; then
            calm=$((calm + 1))
        else
            calm=0
        fi
        seen="$now"
        sleep "$look"
    done
}

# apply tries again, because cards appear one after the other. What nmstatectl has said last is in
# said, as one line that commands no terminal; what may have a password stays in the journal.
said=''
apply() {
    local i
    for ((i = 0; i < 6; i++)); do
        if said="$(nmstatectl apply "$1" 2>&1)"; then
            echo "$said"
            return 0
        fi
        echo "$said"
        sleep "$pause"
    done
    said="${said##*$'\n'}"
    said="${said//[[:cntrl:]\\]/}"
    said="${said:0:500}"
    said="${said:-it has said nothing}"
    case "${said,,}" in
        *passw* | *secret* | *psk* | *private*key*) said='its message may have a secret' ;;
    esac
    return 1
}

wait_for_cards
for name in "$documents"/*.hostname; do
    if [ -e "$name" ] && mine "${name%.hostname}.cards"; then
        hostnamectl set-hostname "$(< "$name")"
    fi
done
for refused in "$documents"/*.refused; do
    if [ -e "$refused" ] && mine "${refused%.refused}.cards"; then
        fail "$(< "$refused")"
    fi
done
for document in "$documents"/*.yml; do
    if [ -e "$document" ] && mine "${document%.yml}.cards"; then
        command -v nmstatectl > /dev/null ||
            fail "this live system has no nmstatectl. Say so by nmstatectl: false in the list of base images, or by --live-nmstatectl=never"
        apply "$document" || fail "nmstatectl refused $document: $said; see: journalctl -u ironflow-nmstate.service"
    fi
done
rm -f "$issue"
