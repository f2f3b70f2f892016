package inventory

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// mount is one line of the mount table.
type mount struct{ device, target, source string }

// mounts reads the mount table of the host's first process: the agent's own may
// be that of a container.
func (h host) mounts() []mount {
	raw, err := os.ReadFile(h.dir.Path("/proc/1/mountinfo"))
	if err != nil {
		return nil
	}
	var out []mount
	for line := range strings.Lines(string(raw)) {
		// id parent major:minor root target options [optional…] - type source options
		head, tail, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(head), strings.Fields(tail)
		if ok && len(left) >= 5 && len(right) >= 2 {
			out = append(out, mount{device: left[2], target: left[4], source: right[1]})
		}
	}
	return out
}

// controllers are the kernel names of disks whose kind of controller is known.
var controllers = []string{"sd", "nvme", "vd", "xvd", "hd", "mmcblk", "sr", "md", "dasd", "dm-", "pmem"}

// judge sets whether the disk may be installed on, by what the agent alone can
// see; size and roles are the hub's business.
func (h host) judge(disk *wire.Disk, name string, udev map[string]string, mounts []mount) {
	targets := h.targets(name, mounts)
	isMedia := disk.DriveType == wire.DriveTypeOdd || slices.ContainsFunc(targets, func(t string) bool { return strings.HasSuffix(t, "iso") })
	disk.IsInstallationMedia = isMedia
	known := slices.ContainsFunc(controllers, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	var reasons []string
	for _, row := range []struct {
		refuse bool
		reason string
	}{
		{!known && !isMultipath(udev), "Its storage controller is not known"},
		{isLVM(udev), "It is a logical volume"},
		{isMedia, "It holds the medium that the host was booted from"},
		{len(targets) > 0 && !isMedia, fmt.Sprintf("It is in use, mounted on %s", strings.Join(targets, ", "))},
	} {
		if row.refuse {
			reasons = append(reasons, row.reason)
		}
	}
	disk.InstallationEligibility = wire.DiskInstallationEligibility{Eligible: len(reasons) == 0, NotEligibleReasons: reasons}
}

// targets lists where the disk or one of its partitions is mounted.
func (h host) targets(name string, mounts []mount) []string {
	devices := []string{h.line(blockDir, name, "dev")}
	for _, part := range h.partitions(name) {
		devices = append(devices, h.line(filepath.Join(blockDir, name, part), "dev"))
	}
	var out []string
	for _, m := range mounts {
		if slices.Contains(devices, m.device) {
			out = append(out, m.target)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
