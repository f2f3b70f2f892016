package disks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/diskuse"
	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/nodeword"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// applianceName is how the labels and names of an appliance's parts begin.
const applianceName = "agent"

// judge decides by what the agent alone can see; size, multipath members and
// roles are the hub's business.
type judge struct {
	machine source.Machine
	uses    diskuse.Uses
	// word is what the node says that nobody may touch.
	word nodeword.Word
	// firmware are the iSCSI targets that the firmware knows, read when needed.
	firmware func() []string
}

func newJudge(m source.Machine, table []mounts.Mount) (judge, error) {
	word, err := nodeword.WordOf(m)
	if err != nil {
		return judge{}, err
	}
	j := judge{machine: m, uses: diskuse.Of(m, table), word: word}
	var known []string
	read := false
	j.firmware = func() []string {
		if !read {
			known, read = bootTargets(m), true
		}
		return known
	}
	return j, nil
}

// verdict completes the disk. Reasons are shown to people: one sentence each.
func (j judge) verdict(f found) wire.Disk {
	disk := f.disk
	var mounted []string
	if !slices.ContainsFunc(f.labels, func(label string) bool { return strings.HasPrefix(label, applianceName) }) {
		mounted = j.uses.By(f.numbers)
	}
	isISO := func(target string) bool { return strings.HasSuffix(target, "iso") }
	disk.IsInstallationMedia = disk.DriveType == wire.DriveTypeOdd || slices.ContainsFunc(mounted, isISO)
	others := slices.DeleteFunc(slices.Clone(mounted), isISO)
	against := j.word.Against(f.numbers)
	mapped := isMultipath(j.machine, disk.Name) || isLVM(j.machine, disk.Name)
	var reasons []string
	for _, row := range []struct {
		refuse bool
		reason string
	}{
		{!knownController(disk.Name) && !mapped, "Its storage controller is not known"},
		{isLVM(j.machine, disk.Name), "It is a logical volume"},
		{disk.DriveType == wire.DriveTypeOdd, "It is an optical drive"},
		{slices.ContainsFunc(mounted, isISO), "It holds the medium that the host was booted from"},
		{len(others) > 0, fmt.Sprintf("It is in use, mounted on %s", strings.Join(others, ", "))},
		{against != "", against},
	} {
		if row.refuse {
			reasons = append(reasons, row.reason)
		}
	}
	if disk.DriveType == wire.DriveTypeISCSI {
		s := iscsiSession(j.machine, disk.Name, f.device)
		disk.Iscsi = &wire.Iscsi{HostIPAddress: s.host}
		reasons = append(reasons, j.iscsi(s)...)
	}
	disk.InstallationEligibility = wire.DiskInstallationEligibility{Eligible: len(reasons) == 0, NotEligibleReasons: reasons}
	return disk
}

// iscsi demands that the firmware finds the disk again after a reboot.
func (j judge) iscsi(s session) []string {
	var reasons []string
	if !s.running {
		reasons = append(reasons, "Its iSCSI session is not running")
	}
	if !slices.Contains(j.firmware(), s.target) {
		reasons = append(reasons, "Its iSCSI target is not in the firmware's boot table (iBFT), so the host cannot boot from it")
	}
	return reasons
}
