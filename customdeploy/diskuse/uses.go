// Package diskuse tells what of a disk is in use: where something of it, or of what is
// built on it, is mounted. It is for all that may write a disk, and so knows of no hub.
// The main function is [InUse].
package diskuse

import (
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/source"
)

const (
	blockDir  = "/sys/block"
	classDir  = "/sys/class/block"
	devDir    = "/dev/"
	btrfsDir  = "/sys/fs/btrfs"
	swapsFile = "/proc/swaps"
	// swap stands for the mount point of what the kernel swaps to, as lsblk has it.
	swap = "[SWAP]"
	// anonymous is how the numbers of file systems begin that no one device stands for.
	anonymous = "0:"
)

// InUse lists where something of the disk is mounted, and "[SWAP]" if the kernel
// swaps to it. Partitions count, and all that is built on them: volume groups,
// RAID, multipath.
func InUse(m source.Machine, name string, table []mounts.Mount) []string {
	return Of(m, table).By(Numbers(m, name, Partitions(m, name)))
}

// Uses are mount points by "major:minor".
type Uses map[string][]string

// Of reads what is in use: what is mounted, and what the kernel swaps to.
func Of(m source.Machine, table []mounts.Mount) Uses {
	u := Uses{}
	for _, mount := range table {
		u[mount.Device] = append(u[mount.Device], mount.Target)
		// Btrfs has a number of its own; where it lies says only the source.
		if strings.HasPrefix(mount.Device, anonymous) && strings.HasPrefix(mount.Source, devDir) {
			for _, name := range members(m, path.Base(m.Resolve(mount.Source))) {
				u.add(m, name, mount.Target)
			}
		}
	}
	raw, _ := m.Read(swapsFile) // a kernel without swap has no such file
	for line := range strings.Lines(string(raw)) {
		if field := strings.Fields(line); len(field) > 0 && strings.HasPrefix(field[0], devDir) {
			u.add(m, path.Base(m.Resolve(mounts.Unescape(field[0]))), swap)
		}
	}
	return u
}

func (u Uses) add(m source.Machine, name, target string) {
	if number := m.Line(classDir, name, "dev"); number != "" {
		u[number] = append(u[number], target)
	}
}

// members are all devices of the Btrfs file system that the device belongs to.
func members(m source.Machine, device string) []string {
	for _, id := range m.Names(btrfsDir) {
		if all := m.Names(btrfsDir, id, "devices"); slices.Contains(all, device) {
			return all
		}
	}
	return []string{device}
}

// maxTargets bounds how many mount points a reason names.
const maxTargets = 8

// By lists where something with one of the numbers is in use.
func (u Uses) By(numbers []string) []string {
	var out []string
	for _, number := range numbers {
		out = append(out, u[number]...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxTargets)]
}
