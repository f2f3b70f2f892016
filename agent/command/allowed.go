package command

import "slices"

// Program is one that the agent may start.
type Program struct {
	// Name is looked for in the folders of the host's PATH.
	Name string
	// Why says what it is for and why Go does not do it.
	Why string
}

// allowed is sorted by name.
var allowed = []Program{
	{"agetty", "makes terminals show messages in /etc/issue.d at once: it knows which terminals there are"},
	{"blockdev", "makes the kernel read the new partition table of the installed disk"},
	{"chpasswd", "sets the passwords of users that bootstrap.ign or a config image brings: it keeps the system's rules and locks"},
	{"coreos-installer", "writes the image: it is the field's program for that, and checks signatures"},
	{"groupadd", "makes the groups that bootstrap.ign brings"},
	{"groupmod", "gives such a group, where it is there already, its number"},
	{"installer-gather.sh", "gathers the logs of a control plane: the script comes with the bootstrap host's Ignition and knows what is there"},
	{"journalctl", "exports the journal for log bundles: a reader in Go needs libsystemd"},
	{"kpartx", "makes the partitions of an installed multipath disk known: the kernel has none there"},
	{"lsblk", "lists disks with what udev and libblkid know of them"},
	{"lvm", "removes volume groups from a disk that is installed next"},
	{"mdadm", "stops a software RAID on a disk that is installed next"},
	{"mount", "mounts the EFI system partition in the host's own mount namespace"},
	{"podman", "pulls and runs container images"},
	{"rpm-ostree", "drops the roll-back deployment of an installed host whose /boot is too small for the discovery image"},
	{"sync", "has what is written to the installed disk reach it, and hears of its errors: a disk that hangs would hold the agent itself"},
	{"systemctl", "reboots an installed host from inside a container, which does not see the host's D-Bus; enables the units that bootstrap.ign brings and that a config image starts; restarts NetworkManager, and what hangs on it, for new connections"},
	{"udevadm", "waits until udev knows the new partitions, or all network cards at a boot"},
	{"umount", "the counterpart of mount"},
	{"useradd", "makes the users that bootstrap.ign brings: it keeps the system's rules, and makes homes with their labels"},
	{"usermod", "changes such users where they are there already"},
	{"wipefs", "removes signatures of file systems with libblkid's knowledge of where they are"},
	{"zipl", "writes the boot record of an IBM Z host, whose format is the program's own"},
}

// Allowed lists all programs that the agent may start, sorted by name. The table
// in docs/agent-reference.md is made of it.
func Allowed() []Program { return slices.Clone(allowed) }

func isAllowed(name string) bool {
	return slices.ContainsFunc(allowed, func(p Program) bool { return p.Name == name })
}
