#!/bin/bash
# Sets up the network with the live system's nmstatectl, from the documents for this
# machine: those without a list of cards, and those whose list has one of its cards.
set -u
documents="${1:-/etc/ironflow/nmstate}"
cards="${2:-/sys/class/net}"
issue="${3:-/run/issue.d/70-ironflow-network.issue}"
pause="${PAUSE:-5}"

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

# apply tries again, because cards appear one after the other.
apply() {
    local i
    for ((i = 0; i < 6; i++)); do
        nmstatectl apply "$1" && return 0
        sleep "$pause"
    done
    return 1
}

command -v nmstatectl > /dev/null ||
    fail "this live system has no nmstatectl. Say so by nmstatectl: false in the list of base images, or by --live-nmstatectl=never"
for document in "$documents"/*.yml; do
    if mine "${document%.yml}.cards"; then
        apply "$document" || fail "nmstatectl refused $document, see: journalctl -u ironflow-nmstate.service"
    fi
done
rm -f "$issue"
