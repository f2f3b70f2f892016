package validations

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/releases/versions"
	"github.com/ironflow/ironflow/hub/wire"
)

// driveRule says where a type of drive can be installed to.
type driveRule struct {
	// since is the first release that can; empty means any.
	since string
	// only are the architectures; none means any.
	only []string
}

// The processors that some drives belong to.
var (
	mainframe  = []string{wire.ClusterCPUArchitectureS390x}
	fibre      = []string{wire.ClusterCPUArchitectureX8664, wire.ClusterCPUArchitectureS390x}
	driveRules = map[wire.DriveType]driveRule{
		wire.DriveTypeHdd: {}, wire.DriveTypeSsd: {}, wire.DriveTypeMultipath: {},
		wire.DriveTypeRaid:  {since: "4.14"},
		wire.DriveTypeISCSI: {since: "4.15"},
		wire.DriveTypeFc:    {only: fibre},
		wire.DriveTypeEckd:  {only: mainframe}, wire.DriveTypeEckdEse: {only: mainframe}, wire.DriveTypeFba: {only: mainframe},
	}
)

// gigabyte is how disks are sold.
const gigabyte = 1_000_000_000

// Beginnings of the hub's own reasons. They are found anew each time, because
// what a host needs may change after its inventory was judged.
const (
	tooSmall     = "Disk is too small"
	wrongType    = "Drive type"
	bootMedium   = "Disk is the boot medium"
	aPath        = "Disk is a path of"
	mixedPaths   = "Multipath device has"
	onDefaultNIC = "iSCSI disk is reached"
)

// formerReasons are those that an earlier hub has left in its records.
var formerReasons = []string{"Disk is removable", "Disk is part of"}

var ownReasons = append([]string{tooSmall, wrongType, bootMedium, aPath, mixedPaths, onDefaultNIC}, formerReasons...)

// WhyNot returns why a disk of the inventory cannot be installed to; none means
// that it can. The agent's own reasons come first. What LVM or a software RAID holds
// can be installed to, as can removable disks: the installer cleans them.
func WhyNot(d *wire.Disk, inventory *wire.Inventory, needs Requirements) []string {
	reasons := slices.DeleteFunc(slices.Clone(d.InstallationEligibility.NotEligibleReasons), isOwnReason)
	add := func(applies bool, format string, args ...any) {
		if applies {
			reasons = append(reasons, fmt.Sprintf(format, args...))
		}
	}
	add(d.SizeBytes < needs.DiskGB*gigabyte, tooSmall+": it has %d GB, %d GB are needed", d.SizeBytes/gigabyte, needs.DiskGB)
	rule, known := driveRules[d.DriveType]
	switch arch := architecture(inventory); {
	case !known:
		add(true, wrongType+" %q cannot be installed to", d.DriveType)
	case needs.Version != "" && rule.since != "" && versions.Older(needs.Version, rule.since):
		add(true, wrongType+" %s needs release %s or later", d.DriveType, rule.since)
	case arch != "" && len(rule.only) > 0 && !slices.Contains(rule.only, arch):
		add(true, wrongType+" %s cannot be installed to on %s", d.DriveType, arch)
	}
	add(d.IsInstallationMedia, bootMedium)
	device := multipathOf(d, inventory)
	add(device != "", aPath+" %s; choose that", device)
	add(d.DriveType == wire.DriveTypeMultipath && !alikePaths(d, inventory), mixedPaths+" paths that are neither all Fibre Channel nor all iSCSI")
	add(onDefaultRoute(d, inventory), onDefaultNIC+" over the interface of the default route; use another network for it")
	return reasons
}

func isOwnReason(reason string) bool {
	return slices.ContainsFunc(ownReasons, func(own string) bool { return strings.HasPrefix(reason, own) })
}

func architecture(inventory *wire.Inventory) string {
	if inventory.CPU == nil {
		return ""
	}
	return inventory.CPU.Architecture
}

// heldBy tells whether the device is built on the disk.
func heldBy(d *wire.Disk, device string) bool {
	// The first look is cheap: there may be thousands of disks.
	return strings.Contains(d.Holders, device) && slices.Contains(strings.Split(d.Holders, ","), device)
}

// multipathOf is the name of the multipath device that the disk is a path of, or "".
func multipathOf(d *wire.Disk, inventory *wire.Inventory) string {
	if d.Holders == "" {
		return ""
	}
	for i := range inventory.Disks {
		if other := &inventory.Disks[i]; other.DriveType == wire.DriveTypeMultipath && heldBy(d, other.Name) {
			return other.Name
		}
	}
	return ""
}

// Paths are the disks that a multipath device consists of; any other disk is its own path.
func Paths(d *wire.Disk, inventory *wire.Inventory) (paths []*wire.Disk) {
	if d.DriveType != wire.DriveTypeMultipath {
		return []*wire.Disk{d}
	}
	for i := range inventory.Disks {
		if path := &inventory.Disks[i]; heldBy(path, d.Name) {
			paths = append(paths, path)
		}
	}
	return paths
}

// alikePaths tells that all paths of a multipath device are of one kind that a
// system can boot from. A device whose paths are not shown is believed.
func alikePaths(d *wire.Disk, inventory *wire.Inventory) bool {
	paths := Paths(d, inventory)
	all := func(kind wire.DriveType) bool {
		return !slices.ContainsFunc(paths, func(p *wire.Disk) bool { return p.DriveType != kind })
	}
	return all(wire.DriveTypeFc) || all(wire.DriveTypeISCSI)
}

// onDefaultRoute tells that an iSCSI disk, or a path of one, is reached over an interface
// that the installed system will configure anew while it uses the disk.
func onDefaultRoute(d *wire.Disk, inventory *wire.Inventory) bool {
	return slices.ContainsFunc(Paths(d, inventory), func(path *wire.Disk) bool {
		nic := ISCSIInterface(path, inventory)
		return nic != nil && slices.ContainsFunc(inventory.Routes, func(r wire.Route) bool { return isDefault(r) && r.Interface == nic.Name })
	})
}

// ISCSIInterface is the interface that an iSCSI disk is reached over; nil for any other
// disk, and where no interface has the address that the disk tells.
func ISCSIInterface(d *wire.Disk, inventory *wire.Inventory) *wire.Interface {
	if d.Iscsi == nil {
		return nil
	}
	a, err := netip.ParseAddr(d.Iscsi.HostIPAddress)
	if err != nil {
		return nil
	}
	for i := range inventory.Interfaces {
		nic := &inventory.Interfaces[i]
		for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			if p, err := netip.ParsePrefix(text); err == nil && p.Addr() == a {
				return nic
			}
		}
	}
	return nil
}

// Eligible returns the disks that can be installed to, the best first: bootable, not
// NVMe, HDD before SSD, smaller, then by address. What would be lost with it comes
// last: a member of a RAID that can be installed to itself, and a removable disk, which
// somebody may have left in the machine.
func Eligible(inventory *wire.Inventory, needs Requirements) []*wire.Disk {
	var out []*wire.Disk
	for i := range inventory.Disks {
		if len(WhyNot(&inventory.Disks[i], inventory, needs)) == 0 {
			out = append(out, &inventory.Disks[i])
		}
	}
	var arrays []string
	for _, d := range out {
		if d.DriveType == wire.DriveTypeRaid {
			arrays = append(arrays, d.Name)
		}
	}
	isMember := func(d *wire.Disk) bool {
		return slices.ContainsFunc(arrays, func(array string) bool { return heldBy(d, array) })
	}
	slices.SortStableFunc(out, func(a, b *wire.Disk) int {
		return cmp.Or(
			before(!a.Removable, !b.Removable),
			before(!isMember(a), !isMember(b)),
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
		reasons := WhyNot(d, inventory, needs)
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
