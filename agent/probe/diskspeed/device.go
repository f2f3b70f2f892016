package diskspeed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// checkDevice refuses what must not be overwritten: a file that is no disk, and
// a disk of which something is mounted.
func checkDevice(dir hostfile.Dir, device string) error {
	info, err := os.Stat(device)
	if err != nil {
		return err
	}
	if info.Mode()&(os.ModeDevice|os.ModeCharDevice) != os.ModeDevice {
		return fmt.Errorf("%s is no disk", device)
	}
	mounts, err := os.ReadFile(dir.Path("/proc/self/mountinfo"))
	if err != nil {
		return fmt.Errorf("look for mounts of %s: %w", device, err)
	}
	numbers := numbersOf(dir, filepath.Base(device))
	for line := range strings.Lines(string(mounts)) {
		// ID, parent, MAJOR:MINOR, root, mount point, see proc_pid_mountinfo(5).
		if field := strings.Fields(line); len(field) > 4 && numbers[field[2]] {
			return fmt.Errorf("%s is in use: something of it is mounted at %s", device, field[4])
		}
	}
	return nil
}

// numbersOf are the numbers MAJOR:MINOR of a disk and its partitions.
func numbersOf(dir hostfile.Dir, name string) map[string]bool {
	numbers := map[string]bool{}
	folder := dir.Path("/sys/class/block/" + name)
	partitions, _ := filepath.Glob(filepath.Join(folder, "*", "dev")) // the pattern is fixed
	for _, file := range append(partitions, filepath.Join(folder, "dev")) {
		if raw, err := os.ReadFile(file); err == nil {
			numbers[strings.TrimSpace(string(raw))] = true
		}
	}
	return numbers
}
