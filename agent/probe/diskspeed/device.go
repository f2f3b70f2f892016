package diskspeed

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/diskuse"
	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/source"
)

// checkDevice refuses what must not be overwritten: a file that is no disk, a
// partition, and a disk of which something is mounted or swapped to, be it over
// a volume group or a RAID.
func checkDevice(dir hostfile.Dir, device string) error {
	info, err := os.Stat(device)
	if err != nil {
		return err
	}
	if info.Mode()&(os.ModeDevice|os.ModeCharDevice) != os.ModeDevice {
		return fmt.Errorf("%s is no disk", device)
	}
	return checkUse(source.Live(dir), device)
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
