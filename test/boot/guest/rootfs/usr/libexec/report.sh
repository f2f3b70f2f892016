#!/bin/sh
# Prints one line per fact, "REPORT kind value…", and switches the machine off.
say() { echo "REPORT $*"; }
dmesg -n 1
say begin
say cmdline "$(cat /proc/cmdline)"
[ ! -e /run/report/config.ign ] || say ignition "$(sha256sum </run/report/config.ign | cut -d ' ' -f 1)"
for f in /etc/NetworkManager/system-connections/*.nmconnection; do
    [ ! -e "$f" ] || say keyfile "$(basename "$f")" "$(sha256sum <"$f" | cut -d ' ' -f 1)"
done
for f in /usr/local/bin/ironflow-*; do
    [ ! -e "$f" ] || say program "$(stat -c '%a %U' "$f")" "$(sha256sum "$f")"
done
[ ! -e /usr/local/bin/ironflow-agent ] || say runs "$(/usr/local/bin/ironflow-agent --version 2>&1 | head -n 1)"
nm-online --quiet --wait-for-startup --timeout 600 || say slow NetworkManager is not ready after 10 minutes
say address "$(ip -json address show)"
say route "$(ip -json route show table all)"
say route6 "$(ip -json -6 route show table all)"
say rule "$(ip -json rule show)"
say dns "$(tr '\n' ' ' </etc/resolv.conf)"
for f in /proc/net/bonding/*; do
    [ ! -e "$f" ] || say bond "$(basename "$f")" "$(cat "/sys/class/net/$(basename "$f")/bonding/mode")"
done
say devices "$(nmcli -t -f DEVICE,TYPE,STATE,CONNECTION device | tr '\n' ' ')"
say end
sync
systemctl poweroff --force --force
