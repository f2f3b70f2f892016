package writable

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/diskuse"
	"github.com/ironflow/ironflow/customdeploy/nodeword"
	"github.com/ironflow/ironflow/customdeploy/source"
)

// Twins are the other paths of the disk that nobody has made one disk of: a LUN of which
// multipathd has no map shows as several disks. What is written to one of them is
// written to all.
func (h *Host) Twins(disk string) []string {
	device, ok := blockdev.Find(h.Tree, disk)
	if !ok {
		return nil
	}
	var all []string
	for _, name := range h.uses.twins(device.KernelName()) {
		all = append(all, "/dev/"+name)
	}
	return all
}

// refusedTwin says why the disk may not be written because of another path of it.
func (h *Host) refusedTwin(disk string) error {
	for _, twin := range h.Twins(disk) {
		if err := h.refusedAlone(twin); err != nil {
			return fmt.Errorf("%s is the same disk as %s (one LUN, two paths): %w", disk, twin, err)
		}
	}
	return nil
}

// refusedAlone looks at one path: in the tree, or in sysfs where the tree has only the
// disks that were asked for.
func (h *Host) refusedAlone(twin string) error {
	if device, ok := blockdev.Find(h.Tree, twin); ok {
		return h.refused(device)
	}
	if err := errors.Join(h.isPath(twin), h.keeps(twin)); err != nil {
		return err
	}
	if at := diskuse.InUse(h.uses.machine, strings.TrimPrefix(twin, "/dev/"), h.uses.table); len(at) > 0 {
		return fmt.Errorf("%s is in use: something of it is mounted on %s", twin, at[0])
	}
	return nil
}

// OtherPaths says why a disk may not be written that other paths lead to as well, for
// those that have no lsblk: it is a path of a multipath disk, or what is written to it is
// in use by another name, or must stay as the node says.
func OtherPaths(dir hostfile.Dir, disk string) error {
	h, err := withoutTree(dir)
	if err != nil {
		return err
	}
	if err := h.isPath(disk); err != nil {
		return err
	}
	return h.twinsOf(disk, h.refusedAlone)
}

// Spared says why the word of the node is against writing a disk, by whatever path; nil if it
// is not. It is for who hands the disk to a program that asks nobody.
func Spared(dir hostfile.Dir, disk string) error {
	h, err := withoutTree(dir)
	if err != nil {
		return err
	}
	if err := nodeword.Spared(h.uses.machine, disk); err != nil {
		return err
	}
	return h.twinsOf(disk, h.keeps)
}

// withoutTree is a host that lsblk was not asked about, with the word of its node.
func withoutTree(dir hostfile.Dir) (*Host, error) {
	uses, err := readUses(dir)
	if err != nil {
		return nil, err
	}
	h := &Host{uses: uses, kept: map[string]string{}}
	return h, h.KeepOfNode()
}

// twinsOf asks for each other path of a disk what is against it.
func (h *Host) twinsOf(disk string, against func(twin string) error) error {
	for _, name := range h.uses.twins(strings.TrimPrefix(disk, "/dev/")) {
		if err := against("/dev/" + name); err != nil {
			return fmt.Errorf("%s is the same disk as /dev/%s (one LUN, two paths): %w", disk, name, err)
		}
	}
	return nil
}

// keeps says what of one path must stay, or of what lies on it, by what sysfs says.
func (h *Host) keeps(twin string) error {
	m, name := h.uses.machine, strings.TrimPrefix(twin, "/dev/")
	if against := nodeword.ByNumber(m, h.kept).Against(diskuse.Numbers(m, name, diskuse.Partitions(m, name))); against != "" {
		return errors.New(against)
	}
	return nil
}

// isPath refuses what multipathd has made a disk of, by what sysfs says.
func (h *Host) isPath(disk string) error {
	m := h.uses.machine
	for _, above := range diskuse.Holders(m, strings.TrimPrefix(disk, "/dev/"), nil) {
		if strings.HasPrefix(m.Line(blockDir, above, "dm/uuid"), "mpath-") {
			return &PathError{Path: disk, Disk: "/dev/mapper/" + m.Line(blockDir, above, "dm/name")}
		}
	}
	return nil
}

const blockDir = "/sys/block"

// twins are the kernel's names of the other disks with the same identity. Those that a
// multipath disk is made of are none of its: they are that disk.
func (u uses) twins(name string) []string {
	members := []string{name}
	if strings.HasPrefix(u.machine.Line(blockDir, name, "dm/uuid"), "mpath-") {
		members = u.machine.Names(blockDir, name, "slaves")
	}
	if len(members) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(u.same()[members[0]]), func(other string) bool { return slices.Contains(members, other) })
}

// same are the disks of one identity, by the kernel's name of each of them. A host may see
// thousands of paths.
func same(dir hostfile.Dir, m source.Machine) map[string][]string {
	of, groups := map[string]string{}, map[string][]string{}
	for _, name := range m.Names(blockDir) {
		if id := identity(dir, m, name); id != "" {
			of[name], groups[id] = id, append(groups[id], name)
		}
	}
	all := map[string][]string{}
	for name, id := range of {
		all[name] = groups[id]
	}
	return all
}

// identity is what two paths of one disk have in common, and two disks do not; empty
// where that is not known, and for what is no disk by itself. Some disks of equal make
// share a world-wide name or a serial number, so all must be equal.
func identity(dir hostfile.Dir, m source.Machine, name string) string {
	if len(m.Names(blockDir, name, "slaves")) > 0 || !m.Exists(blockDir, name, "device") {
		return ""
	}
	known, err := blockdev.Properties(dir, name)
	if err != nil {
		return ""
	}
	wwn := source.First(known["ID_WWN_WITH_EXTENSION"], known["ID_WWN"])
	if strings.Trim(wwn[strings.LastIndexAny(wwn, "x.")+1:], "0-") == "" { // made up
		return ""
	}
	serial := source.First(known["ID_SCSI_SERIAL"], known["ID_SERIAL_SHORT"], known["ID_SERIAL"])
	return strings.Join([]string{wwn, serial, m.Line(blockDir, name, "size")}, " ")
}
