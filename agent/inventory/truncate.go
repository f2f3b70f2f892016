package inventory

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Print renders the inventory within the limits. Disks below the smallest size
// are left out. With a limit of the output, so are disks that cannot be
// installed on; if that is not enough, the stages of [stages] take away one
// thing after the other, and the inventory says that it is partial; if nothing
// helps, only what is always present is sent, and the inventory says so.
func Print(inv wire.Inventory, o Options) ([]byte, error) {
	all := len(inv.Disks)
	inv.Disks = without(inv.Disks, func(d wire.Disk) bool { return d.SizeBytes < o.DiskMinSize })
	if o.OutputMaxSize <= 0 {
		return json.Marshal(inv)
	}
	inv.Disks = without(inv.Disks, func(d wire.Disk) bool { return !d.InstallationEligibility.Eligible })
	fits := func(inv wire.Inventory) ([]byte, bool, error) {
		raw, err := json.Marshal(inv)
		return raw, int64(len(raw)) <= o.OutputMaxSize, err
	}
	if raw, ok, err := fits(inv); ok || err != nil {
		return raw, err
	}
	truncation := wire.InventoryTruncation{Type: wire.InventoryTruncationTypePartial}
	for _, s := range stages {
		reason := s(&inv, func(try wire.Inventory, reason string) bool {
			try.Truncation = &wire.InventoryTruncation{Type: truncation.Type, Reasons: append(slices.Clone(truncation.Reasons), reason)}
			_, ok, err := fits(try)
			return ok && err == nil
		})
		if reason == "" {
			continue
		}
		truncation.Reasons = append(truncation.Reasons, reason)
		inv.Truncation = &truncation
		if raw, ok, err := fits(inv); ok || err != nil {
			return raw, err
		}
	}
	small := empty()
	small.Truncation = &wire.InventoryTruncation{Type: wire.InventoryTruncationTypeFull, Reasons: []string{
		fmt.Sprintf("The inventory with %d disks is larger than %d bytes", all, o.OutputMaxSize),
	}}
	return json.Marshal(small)
}

// without returns a copy of the disks; the caller's list stays as it is.
func without(disks []wire.Disk, leaveOut func(wire.Disk) bool) []wire.Disk {
	return slices.DeleteFunc(slices.Clone(disks), leaveOut)
}

// stage takes something away and says what, or "" when there was nothing to
// take. fits tells whether an inventory with one more reason is small enough.
type stage func(inv *wire.Inventory, fits func(try wire.Inventory, reason string) bool) string

// stages reduce an inventory, the least important things first: what is only
// for people to read, then interfaces that carry no address, then disks.
var stages = []stage{dropNotes, dropIdleInterfaces, dropDisks}

// dropNotes takes away what no decision depends on.
func dropNotes(inv *wire.Inventory, _ func(wire.Inventory, string) bool) string {
	if inv.Boot != nil {
		boot := *inv.Boot
		boot.CommandLine = ""
		inv.Boot = &boot
	}
	inv.Disks = slices.Clone(inv.Disks)
	for i := range inv.Disks {
		d := &inv.Disks[i]
		d.Bootable, d.Smart, d.PartitionTypes, d.IoPerf = false, "", "", nil
	}
	inv.Interfaces = slices.Clone(inv.Interfaces)
	for i := range inv.Interfaces {
		inv.Interfaces[i].Vendor, inv.Interfaces[i].Product = "", ""
	}
	return "Details that are only informative were removed"
}

// dropIdleInterfaces takes away virtual interfaces without addresses.
func dropIdleInterfaces(inv *wire.Inventory, _ func(wire.Inventory, string) bool) string {
	before := len(inv.Interfaces)
	inv.Interfaces = slices.DeleteFunc(inv.Interfaces, func(n wire.Interface) bool {
		return !slices.Contains([]string{"physical", "bond", "vlan"}, n.Type) && len(n.Ipv4Addresses)+len(n.Ipv6Addresses) == 0
	})
	if before == len(inv.Interfaces) {
		return ""
	}
	return fmt.Sprintf("%d of %d interfaces were removed because they are virtual and have no address", before-len(inv.Interfaces), before)
}

// dropDisks keeps as many disks as fit, at least one: the machine's own before
// those of storage networks, each in the order of their names.
func dropDisks(inv *wire.Inventory, fits func(wire.Inventory, string) bool) string {
	remote := func(d wire.Disk) int {
		switch d.DriveType {
		case wire.DriveTypeFc, wire.DriveTypeISCSI, wire.DriveTypeMultipath:
			return 1
		default:
			return 0
		}
	}
	all := slices.Clone(inv.Disks)
	slices.SortStableFunc(all, func(a, b wire.Disk) int { return remote(a) - remote(b) })
	reason := func(kept int) string {
		return fmt.Sprintf("%d of %d disks were removed because the inventory was too large", len(all)-kept, len(all))
	}
	low, high := 0, len(all) // low disks fit or it is 0, high do not
	for high-low > 1 {
		middle := (low + high) / 2
		try := *inv
		try.Disks = all[:middle]
		if fits(try, reason(middle)) {
			low = middle
		} else {
			high = middle
		}
	}
	if low == 0 {
		return ""
	}
	inv.Disks = all[:low]
	return reason(low)
}
