# Runs the real agent as nobody in namespaces of its own, without any device but the harmless ones. As root, inside
# `unshare --mount --pid --fork --kill-child --mount-proc`: sandbox.sh PROGRAM ARGUMENTS…
# AGENT_PATH is the agent's PATH, which begins with the stubs; this script needs the real mount.
set -eu
mount -t tmpfs -o mode=1777 tmpfs /run
mkdir -m 0755 /run/dev
for node in null zero full random urandom tty; do
  : >"/run/dev/$node"
  mount --bind "/dev/$node" "/run/dev/$node"
done
mount --bind /run/dev /dev
if [ -e /proc/sysrq-trigger ]; then mount --bind /dev/null /proc/sysrq-trigger; fi
# The interpreter may lie in a home folder: it is only for reading that nobody may go everywhere.
exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --bounding-set=-all,+dac_read_search \
  --inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search env PATH="$AGENT_PATH" "$@"
