# Process 1 of a test machine, in new mount, pid, uts, ipc and net namespaces
# and in a cgroup of its own: sets up the file systems and becomes systemd.
#   $1 root file system (stays pristine)   $2 scratch folder   $3 boot id file
set -e
mount --make-rprivate /
mount -t tmpfs -o size=512m,mode=755 machine "$2"
mkdir "$2/upper" "$2/work" "$2/root"
cp "$3" "$2/boot_id"
cd "$2"
# Relative: the folder of a test may have a comma in its name, which would end an option.
mount -t overlay overlay -o "lowerdir=$1,upperdir=upper,workdir=work" root
cd root
mount -t proc proc proc
if [ -e lib/systemd/systemd-udevd ]; then
	# With a sysfs that is read-only, systemd has no units of devices. So nothing but what is in it is.
	mount -t sysfs sysfs sys
	for folder in sys/*/; do
		mount --bind "$folder" "$folder"
		mount -o remount,bind,ro "$folder"
	done
	# It would have the kernel tell all of this computer's devices again, and to everybody.
	ln -s /dev/null etc/systemd/system/systemd-udev-trigger.service
else
	mount -t sysfs -o ro sysfs sys
fi
# The kernel is shared with this machine: nothing in there may set it up.
mount --bind proc/sys proc/sys
mount --bind "$2/boot_id" proc/sys/kernel/random/boot_id
mount -o remount,bind,ro proc/sys
mount -t cgroup2 cgroup sys/fs/cgroup
mount -t tmpfs -o mode=755 run run
if [ -e lib/systemd/systemd-udevd ]; then
	# Without it, systemd takes a machine whose devices are no devtmpfs for one without udev.
	mkdir run/udev
	touch run/udev/control
fi
mount -t tmpfs -o mode=1777 tmp tmp
mount -t tmpfs -o mode=755 dev dev
for node in null zero full random urandom tty; do
	touch "dev/$node"
	mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
hostname machine
exec env -i container=ironflow-test TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	chroot . /lib/systemd/systemd --system --show-status=no
