package validations

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

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
	removable    = "Disk is removable"
	bootMedium   = "Disk is the boot medium"
	held         = "Disk is part of"
	mixedPaths   = "Multipath device has"
	onDefaultNIC = "iSCSI disk is reached"
)

var ownReasons = []string{tooSmall, wrongType, removable, bootMedium, held, mixedPaths, onDefaultNIC}

// WhyNot returns why a disk of the inventory cannot be installed to; none means
// that it can. The agent's own reasons come first.
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
	case needs.Version != "" && rule.since != "" && Older(needs.Version, rule.since):
		add(true, wrongType+" %s needs release %s or later", d.DriveType, rule.since)
	case arch != "" && len(rule.only) > 0 && !slices.Contains(rule.only, arch):
		add(true, wrongType+" %s cannot be installed to on %s", d.DriveType, arch)
	}
	add(d.Removable, removable)
	add(d.IsInstallationMedia, bootMedium)
	add(d.Holders != "", held+" %s", d.Holders)
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

// alikePaths tells that all paths of a multipath device are of one kind that a
// system can boot from. A device whose paths are not shown is believed.
func alikePaths(d *wire.Disk, inventory *wire.Inventory) bool {
	var kinds []wire.DriveType
	for i := range inventory.Disks {
		path := &inventory.Disks[i]
		// The first look is cheap: there may be thousands of disks.
		if strings.Contains(path.Holders, d.Name) && slices.Contains(strings.Split(path.Holders, ","), d.Name) {
			kinds = append(kinds, path.DriveType)
		}
	}
	kinds = slices.Compact(kinds)
	return len(kinds) == 0 || len(kinds) == 1 && (kinds[0] == wire.DriveTypeFc || kinds[0] == wire.DriveTypeISCSI)
}

// onDefaultRoute tells that an iSCSI disk is reached over an interface that the
// installed system will configure anew while it uses the disk.
func onDefaultRoute(d *wire.Disk, inventory *wire.Inventory) bool {
	if d.Iscsi == nil || d.Iscsi.HostIPAddress == "" {
		return false
	}
	nic := nicOf(inventory, d.Iscsi.HostIPAddress)
	return nic != "" && slices.ContainsFunc(inventory.Routes, func(r wire.Route) bool { return isDefault(r) && r.Interface == nic })
}

// nicOf is the name of the interface with the address, or "".
func nicOf(inventory *wire.Inventory, address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	for _, nic := range inventory.Interfaces {
		for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			if p, err := netip.ParsePrefix(text); err == nil && p.Addr() == a {
				return nic.Name
			}
		}
	}
	return ""
}

// Eligible returns the disks that can be installed to, the best first:
// bootable, not NVMe, HDD before SSD, smaller, then by address.
func Eligible(inventory *wire.Inventory, needs Requirements) []*wire.Disk {
	var out []*wire.Disk
	for i := range inventory.Disks {
		if len(WhyNot(&inventory.Disks[i], inventory, needs)) == 0 {
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
