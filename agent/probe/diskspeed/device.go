package diskspeed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/diskuse"
	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/nodeword"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/customdeploy/writable"
)

// checkDevice refuses what must not be overwritten: a file that is no disk, a
// partition, a disk of which something is mounted or swapped to, be it over a volume
// group, a RAID or another path, a path of a multipath disk, and what the node says that
// nobody may touch.
func checkDevice(dir hostfile.Dir, device string) error {
	info, err := os.Stat(device)
	if err != nil {
		return err
	}
	if info.Mode()&(os.ModeDevice|os.ModeCharDevice) != os.ModeDevice {
		return fmt.Errorf("%s is no disk", device)
	}
	m := source.Live(dir)
	if err := errors.Join(checkUse(m, device), nodeword.Spared(m, filepath.Join("/dev", filepath.Base(device)))); err != nil {
		return err
	}
	return writable.OtherPaths(dir, device)
}

func checkUse(m source.Machine, device string) error {
	name := filepath.Base(device)
	if !m.Exists("/sys/block", name) {
		return fmt.Errorf("%s is no whole disk", device)
	}
	table, err := mounts.All(m)
	if err != nil {
		return fmt.Errorf("look for mounts of %s: %w", device, err)
	}
	if at := diskuse.InUse(m, name, table); len(at) > 0 {
		return fmt.Errorf("%s is in use: something of it is mounted at %s", device, at[0])
	}
	return nil
}
