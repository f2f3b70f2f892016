package coreos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// device is something of a software RAID, with what it lies on (disks, multipath disks,
// partitions, other arrays) and, for a member, the arrays that it belongs to.
type device struct {
	path       string
	on, arrays []string
	// container tells that it has no content: what the firmware's arrays lie in, or an
	// array that lacks members.
	container bool
	// firmware tells that it is a member by the firmware's own metadata (IMSM, DDF), which
	// describe any number of arrays.
	firmware bool
}

// raids are a host's software RAIDs: the assembled arrays, those on top of
// others first, and the members, assembled or not.
type raids struct {
	arrays, members []device
}

func raidsOf(tree []blockdev.Device) raids {
	var r raids
	for _, disk := range tree {
		r.collect(disk, blockdev.Device{}, nil)
	}
	// A container is not stopped before what lies in it.
	slices.SortStableFunc(r.arrays, func(a, b device) int { return cmp.Compare(rank(a), rank(b)) })
	return r
}

func rank(d device) int {
	if d.container {
		return 1
	}
	return 0
}

// memberOf are contents of a device by which mdadm makes it a member of an array.
var memberOf = []string{blockdev.RAIDMember, "isw_raid_member", "ddf_raid_member"}

// collect notes what lies on the device, the upper devices first. An array shows
// below each of its members.
func (r *raids) collect(d, below blockdev.Device, on []string) {
	for _, child := range d.Children {
		r.collect(child, d, append(slices.Clone(on), d.Path))
	}
	// The partition of an array may have the same type, but lies on no member.
	container := slices.Contains(containers, d.Type) && slices.Contains(memberOf, below.FSType)
	if d.IsRAID() || container {
		r.arrays = note(r.arrays, device{path: d.Path, on: on, container: container})
	}
	if slices.Contains(memberOf, d.FSType) {
		member := device{path: d.Path, on: append(slices.Clone(on), d.Path), firmware: d.FSType != blockdev.RAIDMember}
		for _, child := range d.Children {
			member.arrays = append(member.arrays, child.Path)
		}
		r.members = note(r.members, member)
	}
}

// containers are lsblk's types of them.
var containers = []string{"md", "container"}

func note(list []device, d device) []device {
	i := slices.IndexFunc(list, func(known device) bool { return known.path == d.path })
	if i < 0 {
		return append(list, d)
	}
	for _, below := range d.on {
		if !slices.Contains(list[i].on, below) {
			list[i].on = append(list[i].on, below)
		}
	}
	return list
}

// without leaves out what is one of the kept devices, or lies on one.
func (r raids) without(kept []string) raids {
	stays := func(d device) bool {
		return slices.ContainsFunc(slices.Concat([]string{d.path}, d.on, d.arrays), func(path string) bool { return slices.Contains(kept, path) })
	}
	return raids{arrays: slices.DeleteFunc(r.arrays, stays), members: slices.DeleteFunc(r.members, stays)}
}

// removeRAIDs removes all software RAIDs of the host: an array that came back at
// the next boot would hold the installed disk, or bring an old system back. What
// fails elsewhere than on the disk to install on is only warned about. Disks and
// arrays that are kept stay as they are.
func removeRAIDs(ctx context.Context, run hostexec.Exec, disk string, warn func(error), kept ...string) (removed []string, err error) {
	tree, err := blockdev.Tree(ctx, run)
	if err != nil {
		return nil, err
	}
	found := raidsOf(tree).without(kept)
	if len(found.arrays)+len(found.members) == 0 {
		return nil, nil
	}
	var failures []error
	do := func(d device, argv ...string) bool {
		_, err := hostexec.Output(ctx, run, append(argv, d.path)...)
		switch {
		case err == nil:
			return true
		case slices.Contains(d.on, disk):
			failures = append(failures, fmt.Errorf("remove the software RAID %s on %s: %w", d.path, disk, err))
		default:
			warn(fmt.Errorf("remove the software RAID %s: %w", d.path, err))
		}
		return false
	}
	for _, array := range found.arrays {
		// Without its signatures nothing on it (LVM, another array) comes back to life.
		if (array.container || do(array, "wipefs", "--all", "--force")) && do(array, "mdadm", "--stop") {
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
