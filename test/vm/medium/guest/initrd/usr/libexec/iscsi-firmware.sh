#!/bin/sh
# Sets the card up that the firmware's table names, and logs in to its target. The system goes on with both: nobody may set the
# card up anew, which carries the root.
set -eu
udevadm settle || true
modprobe -a iscsi_tcp iscsi_ibft
mkdir -p /run/lock/iscsi
iscsistart -N
iscsistart -b
