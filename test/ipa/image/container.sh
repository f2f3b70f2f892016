# A program of the image, in namespaces of its own and without any device but harmless ones.
#   $1 the image's root   $2 the host's root   then the program
set -e
root=$1 host=$2
shift 2
mount --make-rprivate /
mkdir -p "$root/proc" "$root/dev" "$root/mnt/coreos"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 dev "$root/dev"
for node in null zero random urandom; do
  touch "$root/dev/$node"
  mount --bind "/dev/$node" "$root/dev/$node"
done
mount --bind "$host" "$root/mnt/coreos"
bus=run/dbus/system_bus_socket
if [ -e "$host/$bus" ]; then
  mkdir -p "$root/run/dbus"
  touch "$root/$bus"
  mount --bind "$host/$bus" "$root/$bus"
fi
exec chroot "$root" "$@"
