package blockdev

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// udevDir holds udev's database: one file for each device, named by its number.
const udevDir = "/run/udev/data/b"

// maxUdevFile bounds one file of the database, bytes.
const maxUdevFile = 256 << 10

// KernelName is how sysfs calls a device: /dev/mapper/mpatha2 is dm-3.
func KernelName(host hostfile.Dir, path string) string {
	if target, err := os.Readlink(host.Path(path)); err == nil {
		return filepath.Base(target)
	}
	return filepath.Base(path)
}

// Properties are what udev knows of a block device, by its name in sysfs. They are read
// from udev's database, without a program.
func Properties(host hostfile.Dir, kernelName string) (map[string]string, error) {
	number, err := os.ReadFile(host.Path(filepath.Join("/sys/class/block", kernelName, "dev")))
	if err != nil {
		return nil, fmt.Errorf("the number of %s: %w", kernelName, err)
	}
	f, err := os.Open(host.Path(udevDir + strings.TrimSpace(string(number)))) //nolint:gosec // the kernel's own number
	if err != nil {
		return nil, fmt.Errorf("what udev knows of %s: %w", kernelName, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxUdevFile))
	if err != nil {
		return nil, fmt.Errorf("what udev knows of %s: %w", kernelName, err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		property, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "E:")
		if key, value, pair := strings.Cut(property, "="); ok && pair {
			known[key] = strings.TrimSpace(value)
		}
	}
	return known, nil
}
