package writable

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ironflow/ironflow/agent/inventory/disks"
	"github.com/ironflow/ironflow/agent/inventory/mounts"
	"github.com/ironflow/ironflow/agent/inventory/source"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
)

// mountTable is that of the host's first process; an installer's own may be that of
// a container.
const mountTable = "/proc/1/mountinfo"

// uses is what of a host's disks is in use.
type uses struct {
	machine source.Machine
	// points are mount points by the device's number and by the name that it was
	// mounted by: a device has many names, and some file systems (btrfs) have a
	// number of their own.
	points map[string]string
	table  []mounts.Mount
}

func readUses(dir hostfile.Dir) (uses, error) {
	m := source.Live(dir)
	u := uses{machine: m, points: map[string]string{}, table: mounts.Read(m)}
	f, err := os.Open(dir.Path(mountTable))
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil // no processes, no mounts
	}
	if err != nil {
		return u, fmt.Errorf("list what is mounted: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		// ID PARENT MAJ:MIN ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE SUPER
		front, back, _ := strings.Cut(lines.Text(), " - ")
		mount, source := strings.Fields(front), strings.Fields(back)
		if len(mount) < 5 || len(source) < 2 {
			continue
		}
		if !strings.HasPrefix(mount[2], "0:") { // no device
			u.points[mount[2]] = mount[4]
		}
		if strings.HasPrefix(source[1], "/dev/") {
			u.points[source[1]] = mount[4]
		}
	}
	return u, lines.Err()
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
	if at := disks.InUse(u.machine, disk.KernelName(), u.table); len(at) > 0 {
		return fmt.Errorf("%s is in use: something of it is mounted on %s", disk.Path, at[0])
	}
	return nil
}
