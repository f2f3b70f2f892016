package writable

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/diskuse"
	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/source"
)

// uses is what of a host's disks is in use.
type uses struct {
	machine source.Machine
	// points are mount points by the device's number and by the name that it was
	// mounted by: a device has many names, and some file systems (btrfs) have a
	// number of their own.
	points map[string]string
	table  []mounts.Mount
	// same are the disks of one identity; they are looked at when they are asked for first.
	same func() map[string][]string
}

// readUses reads what the host's first process and this one have mounted.
func readUses(dir hostfile.Dir) (uses, error) {
	m := source.Live(dir)
	u := uses{machine: m, points: map[string]string{}, same: sync.OnceValue(func() map[string][]string { return same(dir, m) })}
	var err error
	u.table, err = mounts.All(u.machine)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a root directory without processes of its own
		u.table = mounts.Read(u.machine)
	case err != nil:
		return u, fmt.Errorf("list what is mounted: %w", err)
	}
	for _, m := range u.table {
		if !strings.HasPrefix(m.Device, "0:") { // no device
			u.points[m.Device] = m.Target
		}
		if strings.HasPrefix(m.Source, "/dev/") {
			u.points[m.Source] = m.Target
		}
	}
	return u, nil
}

// of says what of the disk is in use: it carries the running system, or somebody
// works with it.
func (u uses) of(disk blockdev.Device) error {
	for _, d := range Flatten([]blockdev.Device{disk}) {
		point, ok := u.points[d.Number]
		if !ok {
			point, ok = u.points[d.Path]
		}
		if ok {
			return fmt.Errorf("%s is in use: %s is mounted on %s", disk.Path, d.Path, point)
		}
	}
	// What the mount table does not name: swap, and file systems of many devices.
	if at := diskuse.InUse(u.machine, disk.KernelName(), u.table); len(at) > 0 {
		return fmt.Errorf("%s is in use: something of it is mounted on %s", disk.Path, at[0])
	}
	return nil
}
