# Process 1 of a machine that runs containers, in new mount, pid, uts, ipc and net
# namespaces and in cgroups of its own: sets up the file systems, applies a configuration
# as an initrd would, and becomes systemd.
#   $1 root file system (stays as it is)   $2 folder of what the machine writes   $3 boot id file
#   $4 program of Ignition   $5 its configuration   $6 a file: the network is plugged in when it is there
#   HIERARCHIES: FOLDER=OPTIONS of each hierarchy of cgroups of version 1; none: version 2 alone
set -e
mount --make-rprivate /
disk=$(realpath "$2")
mkdir -p "$disk/upper" "$disk/work" "$disk/root" "$disk/kept" "$disk/proc"
mount -t proc proc "$disk/proc" # as it is: the one of the root is read-only
cd "$disk"
mount -t overlay overlay -o "lowerdir=$1,upperdir=upper,workdir=work" root
# Layers of containers are overlays, which cannot lie on another one.
for folder in var/lib/containerd var/lib/kubelet; do
	mkdir -p "root/$folder" "kept/$folder"
	mount --bind "kept/$folder" "root/$folder"
done
if [ ! -e root/etc/.ignition-result.json ]; then
	echo uninitialized >root/etc/machine-id
	# What sets up a machine's hardware, clock or network, which are this computer's here.
	for unit in chrony systemd-timesyncd systemd-firstboot systemd-udevd NetworkManager NetworkManager-wait-online systemd-networkd systemd-networkd-wait-online \
		systemd-modules-load multipathd iscsid open-iscsi lvm2-monitor mdmonitor smartmontools; do
		ln -sf /dev/null "root/etc/systemd/system/$unit.service"
	done
	for unit in systemd-udevd-control systemd-udevd-kernel multipathd iscsid; do
		ln -sf /dev/null "root/etc/systemd/system/$unit.socket"
	done
	for unit in dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount proc-sys-fs-binfmt_misc.automount; do
		ln -sf /dev/null "root/etc/systemd/system/$unit"
	done
	mount -t tmpfs run /run # of this namespace alone
	# It wants to label what it writes; there is no SELinux.
	mkdir -p root/etc/selinux /run/tools
	printf 'SELINUX=disabled\nSELINUXTYPE=targeted\n' >root/etc/selinux/config
	printf '#!/bin/sh\nexec cat >/dev/null\n' >/run/tools/setfiles
	chmod 0755 /run/tools/setfiles
	for stage in fetch files; do
		PATH=/run/tools:$PATH IGNITION_CONFIG_FILE=$5 "$4" --platform file --root "$disk/root" --stage $stage --config-cache "$disk/ignition.json" --log-to-stdout
	done
	rm "$disk/ignition.json" # it is as secret as the configuration
	umount /run
fi
cp "$3" "$disk/boot_id"
cd root
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
# The kernel is shared with this machine: nothing in there may set it up. The network is the
# machine's own. What a kubelet sets for the whole kernel, it sets in copies.
mount --bind proc/sys proc/sys
mount --bind "$disk/boot_id" proc/sys/kernel/random/boot_id
mkdir -p "$disk/sysctl"
for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
	copy=$disk/sysctl/$(echo "$name" | tr / .)
	cat "$disk/proc/sys/$name" >"$copy"
	mount --bind "$copy" "proc/sys/$name"
done
mount -o remount,bind,ro proc/sys
mount --bind "$disk/proc/sys/net" proc/sys/net
if [ -n "$HIERARCHIES" ]; then
	mount -t tmpfs -o mode=755 cgroup sys/fs/cgroup
	for one in $HIERARCHIES; do
		mkdir "sys/fs/cgroup/${one%%=*}"
		mount -t cgroup -o "${one#*=}" cgroup "sys/fs/cgroup/${one%%=*}"
	done
	mkdir sys/fs/cgroup/unified
	mount -t cgroup2 cgroup sys/fs/cgroup/unified
else
	mount -t cgroup2 cgroup sys/fs/cgroup
fi
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mount -t tmpfs -o mode=755 dev dev
for node in null zero full random urandom tty kmsg; do
	touch "dev/$node"
	mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/pts dev/shm dev/mqueue
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs shm dev/shm
mount -t mqueue mqueue dev/mqueue
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
hostname machine
while [ ! -e "$6" ]; do
	sleep 0.1
done
# A kubelet shows containers what is mounted later on.
mount --make-rshared .
# Neither this computer's clock nor its kernel is the machine's.
exec env -i container=ironflow-test TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	setpriv --bounding-set=-sys_time,-sys_module,-sys_boot chroot . /lib/systemd/systemd --system --show-status=no
