# Runs the real ironic-python-agent as its container on the booted machine would: as root, with the machine's files
# below /mnt/coreos and the machine's system bus, but without a device, without what it could break on this computer,
# and with the few capabilities that the step program needs. As root, in the machine's mount namespace and there inside
# `unshare --mount --pid --fork --kill-child --mount-proc`: sandbox.sh ROOT PROGRAM ARGUMENTS…
# AGENT_PATH is the agent's PATH, which begins with the stubs; this script needs the real mount.
set -eu
root=$1
shift
mount -t tmpfs -o mode=0755 tmpfs /mnt
mkdir /mnt/coreos
mount --rbind "$root" /mnt/coreos
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir -m 0755 /run/dev /run/dbus
mount --rbind /mnt/coreos/run/dbus /run/dbus
for node in null zero full random urandom tty; do
  : >"/run/dev/$node"
  mount --bind "/dev/$node" "/run/dev/$node"
done
mount --bind /run/dev /dev
mount -o remount,bind,ro /sys
mount -o remount,bind,ro /
if [ -e /proc/sysrq-trigger ]; then mount --bind /dev/null /proc/sysrq-trigger; fi
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+dac_override,+dac_read_search,+fowner \
  --inh-caps=-all env PATH="$AGENT_PATH" TMPDIR=/run HOME=/run "$@"
