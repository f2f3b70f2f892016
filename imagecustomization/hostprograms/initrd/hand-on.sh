#!/bin/sh
# Copies the host programs out of the initrd into the live system that it is about to start.
#   hand-on.sh PROGRAMS SYSROOT RUN
# Only mkdir, cp, mv, chmod and readlink are there for certain.
set -eu
programs=$1 sysroot=$2 run=$3
local=$sysroot/usr/local
# On CoreOS, /usr is read-only and /usr/local a link to a folder of /var that nobody may have made yet.
if [ -L "$local" ]; then
    target=$(readlink "$local")
    case $target in
    /*) local=$sysroot$target ;;
    *) local=$sysroot/usr/$target ;;
    esac
fi
mkdir -p "$local/bin" "$run/tmpfiles.d"
for program in ironflow-agent ironflow-step ironflow ironflow-agent-based openshift-install; do
    [ -e "$programs/$program" ] || continue # the last three are in images of clusters that install themselves
    if [ ! -e "$local/bin/$program" ]; then
        cp "$programs/$program" "$local/bin/.$program"
        chmod 0755 "$local/bin/.$program"
        mv "$local/bin/.$program" "$local/bin/$program"
    fi
    # In the initrd there is no security policy yet: the live system labels the files when it starts.
    echo "z /usr/local/bin/$program 0755 root root -"
done >"$run/tmpfiles.d/ironflow-programs.conf"
