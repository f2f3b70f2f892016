#!/bin/sh
# Sets what udhcpc was given.
case $1 in
deconfig) ip addr flush dev "$interface" ;;
bound | renew)
    ip addr add "$ip/$mask" dev "$interface"
    [ -z "${router:-}" ] || ip route add default via "${router%% *}"
    ;;
esac
