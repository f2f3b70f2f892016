package coreos

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// device is something of a software RAID, with the disks that it lies on and, for a
// member, the arrays that it belongs to.
type device struct {
	path          string
	disks, arrays []string
}

// raids are a host's software RAIDs: the assembled arrays, those on top of
// others first, and the members, assembled or not.
type raids struct {
	arrays, members []device
}

// findRAIDs looks at all disks.
func findRAIDs(ctx context.Context, run hostexec.Exec) (raids, error) {
	disks, err := blockdev.Tree(ctx, run)
	if err != nil {
		return raids{}, err
	}
	return raidsOf(disks), nil
}

func raidsOf(tree []blockdev.Device) raids {
	var r raids
	for _, disk := range tree {
		r.collect(disk, disk.Path)
	}
	return r
}

// collect notes what lies on the disk, the upper devices first. An array shows
// below each of its members.
func (r *raids) collect(d blockdev.Device, disk string) {
	for _, child := range d.Children {
		r.collect(child, disk)
	}
	if d.IsRAID() {
		r.arrays = note(r.arrays, d.Path, disk, nil)
	}
	if d.FSType == blockdev.RAIDMember {
		var arrays []string
		for _, child := range d.Children {
			arrays = append(arrays, child.Path)
		}
		r.members = note(r.members, d.Path, disk, arrays)
	}
}

func note(list []device, path, disk string, arrays []string) []device {
	i := slices.IndexFunc(list, func(d device) bool { return d.path == path })
	if i < 0 {
		return append(list, device{path, []string{disk}, arrays})
	}
	if !slices.Contains(list[i].disks, disk) {
		list[i].disks = append(list[i].disks, disk)
	}
	return list
}

// without leaves out what is one of the kept devices, or lies on one.
func (r raids) without(kept []string) raids {
	stays := func(d device) bool {
		return slices.ContainsFunc(slices.Concat([]string{d.path}, d.disks, d.arrays), func(path string) bool { return slices.Contains(kept, path) })
	}
	return raids{arrays: slices.DeleteFunc(r.arrays, stays), members: slices.DeleteFunc(r.members, stays)}
}

// removeRAIDs removes all software RAIDs of the host: an array that came back at
// the next boot would hold the installed disk, or bring an old system back. What
// fails elsewhere than on the disk to install on is only warned about. Disks and
// arrays that are kept stay as they are.
func removeRAIDs(ctx context.Context, run hostexec.Exec, disk string, warn func(error), kept ...string) (removed []string, err error) {
	found, err := findRAIDs(ctx, run)
	found = found.without(kept)
	if err != nil || len(found.arrays)+len(found.members) == 0 {
		return nil, err
	}
	var failures []error
	do := func(d device, argv ...string) bool {
		_, err := hostexec.Output(ctx, run, append(argv, d.path)...)
		switch {
		case err == nil:
			return true
		case slices.Contains(d.disks, disk):
			failures = append(failures, fmt.Errorf("remove the software RAID %s on %s: %w", d.path, disk, err))
		default:
			warn(fmt.Errorf("remove the software RAID %s: %w", d.path, err))
		}
		return false
	}
	for _, array := range found.arrays {
		// Without its signatures nothing on it (LVM, another array) comes back to life.
		if do(array, "wipefs", "--all", "--force") && do(array, "mdadm", "--stop") {
			removed = append(removed, array.path)
		}
	}
	for _, member := range found.members {
		do(member, "mdadm", "--zero-superblock")
	}
	if _, err := hostexec.Output(ctx, run, "udevadm", "settle"); err != nil {
		warn(err)
	}
	return removed, errors.Join(failures...)
}
