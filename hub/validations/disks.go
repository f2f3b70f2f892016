package validations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// installable are the drive types that can be installed to.
var installable = []wire.DriveType{
	wire.DriveTypeHdd, wire.DriveTypeSsd, wire.DriveTypeMultipath, wire.DriveTypeRaid, wire.DriveTypeISCSI, wire.DriveTypeFc,
	wire.DriveTypeEckd, wire.DriveTypeEckdEse, wire.DriveTypeFba,
}

// gigabyte is how disks are sold.
const gigabyte = 1_000_000_000

// WhyNot returns why a disk cannot be installed to; none means that it can. The
// agent's own reasons come first.
func WhyNot(d *wire.Disk, needs Requirements) []string {
	reasons := slices.Clone(d.InstallationEligibility.NotEligibleReasons)
	add := func(applies bool, reason string) {
		// An inventory that was judged before has the reason already.
		if applies && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	add(d.SizeBytes < needs.DiskGB*gigabyte, fmt.Sprintf("Disk is too small: it has %d GB, %d GB are needed", d.SizeBytes/gigabyte, needs.DiskGB))
	add(!slices.Contains(installable, d.DriveType), fmt.Sprintf("Drive type %q cannot be installed to", d.DriveType))
	add(d.Removable, "Disk is removable")
	add(d.IsInstallationMedia, "Disk is the boot medium")
	add(d.Holders != "", "Disk is part of "+d.Holders)
	return reasons
}

// Eligible returns the disks that can be installed to, the best first:
// bootable, not NVMe, HDD before SSD, smaller, then by address.
func Eligible(inventory *wire.Inventory, needs Requirements) []*wire.Disk {
	var out []*wire.Disk
	for i := range inventory.Disks {
		if len(WhyNot(&inventory.Disks[i], needs)) == 0 {
			out = append(out, &inventory.Disks[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *wire.Disk) int {
		return cmp.Or(
			before(a.Bootable, b.Bootable),
			before(!isNVMe(a), !isNVMe(b)),
			before(a.DriveType == wire.DriveTypeHdd, b.DriveType == wire.DriveTypeHdd),
			cmp.Compare(a.SizeBytes, b.SizeBytes),
			cmp.Compare(a.HCTL, b.HCTL),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return out
}

// FindDisk returns the disk with that id or path, or nil.
func FindDisk(inventory *wire.Inventory, idOrPath string) *wire.Disk {
	i := slices.IndexFunc(inventory.Disks, func(d wire.Disk) bool {
		return idOrPath != "" && slices.Contains([]string{d.ID, d.Path, d.ByID, d.ByPath}, idOrPath)
	})
	if i < 0 {
		return nil
	}
	return &inventory.Disks[i]
}

// Judge notes in the inventory which disks can be installed to.
func Judge(inventory *wire.Inventory, needs Requirements) {
	for i := range inventory.Disks {
		d := &inventory.Disks[i]
		reasons := WhyNot(d, needs)
		d.InstallationEligibility = wire.DiskInstallationEligibility{Eligible: len(reasons) == 0, NotEligibleReasons: reasons}
	}
}

func isNVMe(d *wire.Disk) bool { return strings.HasPrefix(d.Name, "nvme") }

// before sorts true first.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
