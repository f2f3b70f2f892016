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
	{"chpasswd", "sets the passwords of users of bootstrap.ign or a config image: it follows the rules of the system, and takes its locks"},
	{"coreos-installer", "writes the image: it is the usual program for that, and checks signatures"},
	{"groupadd", "makes the groups of bootstrap.ign"},
	{"groupmod", "sets the number of such a group if it exists already"},
	{"installer-gather.sh", "gathers the logs of a control plane: the script comes with the bootstrap host's Ignition and knows what is there"},
	{"journalctl", "exports the journal for log bundles: a reader in Go needs libsystemd"},
	{"kpartx", "makes the partitions of an installed multipath disk known, which the kernel does not do"},
	{"lsblk", "lists disks with what udev and libblkid know of them"},
	{"lvm", "removes volume groups from a disk that is installed next"},
	{"mdadm", "stops a software RAID on a disk that is installed next"},
	{"mount", "mounts the EFI system partition in the host's own mount namespace"},
	{"nmcli", "gives an interface the connection that a person has typed, or that a config image has, in the place of the one that it has, and says why it cannot: it knows NetworkManager's D-Bus interface"},
	{"podman", "pulls and runs container images"},
	{"rpm-ostree", "drops the roll-back deployment of an installed host whose /boot is too small for the discovery image"},
	{"sync", "makes sure that everything is on the installed disk, and reports its errors; a disk that hangs would otherwise block the agent itself"},
	{"systemctl", "reboots an installed host from inside a container, which does not see the host's D-Bus; enables the units of bootstrap.ign and of a config image; starts the units of the hub on a host that becomes the rendezvous host later"},
	{"udevadm", "waits until udev knows the new partitions, or all network cards and disks at a boot"},
	{"umount", "the counterpart of mount"},
	{"useradd", "makes the users of bootstrap.ign: it follows the rules of the system, and makes home folders with their SELinux labels"},
	{"usermod", "changes such users if they exist already"},
	{"wipefs", "removes signatures of file systems with libblkid's knowledge of where they are"},
	{"zipl", "writes the boot record of an IBM Z host, whose format is the program's own"},
}

// Allowed lists all programs that the agent may start, sorted by name. The table
// in docs/agent-reference.md is made of it.
func Allowed() []Program { return slices.Clone(allowed) }

func isAllowed(name string) bool {
	return slices.ContainsFunc(allowed, func(p Program) bool { return p.Name == name })
}
