package validations

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

func hasDisk(in HostInput) verdict {
	if chosen := in.Host.InstallationDiskID; chosen != "" {
		disk := FindDisk(in.Inventory, chosen)
		if disk == nil {
			return fail("The chosen installation disk %s is not there; choose another one", chosen)
		}
		if reasons := WhyNot(disk, in.Inventory, in.Needs); len(reasons) > 0 {
			return fail("The chosen installation disk %s cannot be installed to: %s. At least %d GB are needed; choose another disk", chosen, strings.Join(reasons, "; "), in.Needs.DiskGB)
		}
	}
	if n := len(Eligible(in.Inventory, in.Needs)); n > 0 {
		return pass("%d disks can be installed to", n)
	}
	return fail("No disk can be installed to; add one of at least %d GB", in.Needs.DiskGB)
}

func diskFast(in HostInput) verdict {
	ms, measured := in.speed()
	switch {
	case in.unread(theDisks):
		return unreadable(theDisks)
	case in.notMeasurable():
		return fail("The speed of the installation disk could not be measured; choose another disk, or have it measured again once the agent's log says why")
	case !measured:
		return pass("The speed of the installation disk has not been measured")
	case in.Needs.DiskSpeedMs > 0 && ms > in.Needs.DiskSpeedMs:
		return fail("The installation disk needs %d ms to sync, at most %d ms are allowed; choose another disk", ms, in.Needs.DiskSpeedMs)
	}
	return pass("The installation disk syncs in %d ms", ms)
}

// measurement is that of the installation disk; nil before it was tried.
func (f *HostFacts) measurement() *wire.DiskSpeed {
	for _, info := range f.Disks {
		if info.DiskSpeed != nil && info.DiskSpeed.Tested && info.Path != "" &&
			slices.Contains([]string{f.Host.InstallationDiskID, f.Host.InstallationDiskPath}, info.Path) {
			return info.DiskSpeed
		}
	}
	return nil
}

func (f *HostFacts) speed() (ms int64, measured bool) {
	m := f.measurement()
	if m == nil || m.ExitCode != 0 {
		return 0, false
	}
	return m.SpeedMs, true
}

// notMeasurable tells that the measurement itself went wrong.
func (f *HostFacts) notMeasurable() bool {
	m := f.measurement()
	return m != nil && m.ExitCode != 0
}

// DiskSpeed returns the measured speed of the host's installation disk, in milliseconds
// for one sync; failed tells that the measurement itself went wrong.
func DiskSpeed(h *wire.Host) (ms int64, measured, failed bool) {
	f := HostFacts{Host: h}
	if json.Unmarshal([]byte(h.DisksInfo), &f.Disks) != nil {
		return 0, false, false
	}
	ms, measured = f.speed()
	return ms, measured, f.notMeasurable()
}

func disksHaveUUID(in HostInput) verdict {
	var without []string
	for i := range in.Inventory.Disks {
		if d := &in.Inventory.Disks[i]; !d.HasUUID && len(WhyNot(d, in.Inventory, in.Needs)) == 0 {
			without = append(without, d.Name)
		}
	}
	if len(without) > 0 {
		return fail("vSphere shows disks without an id (%s); set disk.EnableUUID to TRUE on the virtual machine", list(without))
	}
	return pass("All disks have an id")
}

// kept are the ids of disks that are not to be formatted.
func (f *HostFacts) kept() []string {
	return slices.DeleteFunc(strings.Split(f.Host.SkipFormattingDisks, ","), func(s string) bool { return s == "" })
}

func formatsInstallationDisk(in HostInput) verdict {
	target := FindDisk(in.Inventory, in.Host.InstallationDiskID)
	for _, id := range in.kept() {
		if id == in.Host.InstallationDiskID || target != nil && FindDisk(in.Inventory, id) == target {
			return fail("Disk %s is to be installed to and to be kept as it is; choose another installation disk, or have this one formatted", id)
		}
	}
	return pass("The installation disk is none of the disks to keep")
}

func keptDisksExist(in HostInput) verdict {
	missing := slices.DeleteFunc(in.kept(), func(id string) bool { return FindDisk(in.Inventory, id) != nil })
	if len(missing) > 0 {
		return fail("Disks that are to be kept as they are do not exist (%s); correct the list", list(missing))
	}
	return pass("All disks to keep are there")
}
