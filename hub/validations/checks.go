package validations

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

func connected(in Input) (bool, string) {
	if in.Connected {
		return true, "The agent answers"
	}
	return false, "The agent does not answer; check the host's network and power"
}

func mediaConnected(in Input) (bool, string) {
	if in.MediaConnected {
		return true, "The boot medium can be read"
	}
	return false, "The boot medium cannot be read; attach it and reboot the host"
}

func hasInventory(in Input) (bool, string) {
	if in.Inventory != nil {
		return true, "The inventory is known"
	}
	return false, "The host has not sent its inventory yet"
}

func notFullyTruncated(in Input) (bool, string) {
	if !truncated(in.Inventory, wire.InventoryTruncationTypeFull) {
		return true, "The inventory fits"
	}
	return false, "The inventory was too large to be sent; see the agent's log for what to leave out"
}

func notPartiallyTruncated(in Input) (bool, string) {
	if !truncated(in.Inventory, wire.InventoryTruncationTypePartial) {
		return true, "The inventory is complete"
	}
	return false, "Parts of the inventory were left out because of its size"
}

func truncated(inventory *wire.Inventory, kind string) bool {
	return inventory.Truncation != nil && inventory.Truncation.Type == kind
}

func enoughCPUs(in Input) (bool, string) {
	var have int64
	if in.Inventory.CPU != nil {
		have = in.Inventory.CPU.Count
	}
	return have >= in.Needs.CPUs, fmt.Sprintf("The host has %d CPUs, %d are needed", have, in.Needs.CPUs)
}

// memoryTolerance is what firmware and kernel may keep for themselves, in MiB.
const memoryTolerance = 100

func enoughMemory(in Input) (bool, string) {
	var have int64
	needed := in.Needs.MemoryMiB - memoryTolerance
	if m := in.Inventory.Memory; m != nil {
		have = m.PhysicalBytes >> 20
		if m.PhysicalBytesMethod == wire.MemoryMethodMeminfo {
			needed -= in.Needs.MemoryMiB * 2 / 100
		}
	}
	return have >= needed, fmt.Sprintf("The host has %d MiB of memory, %d MiB are needed", have, in.Needs.MemoryMiB)
}

func hasDisk(in Input) (bool, string) {
	if chosen := in.Host.InstallationDiskID; chosen != "" {
		disk := FindDisk(in.Inventory, chosen)
		if disk == nil {
			return false, fmt.Sprintf("The chosen installation disk %s is not there; choose another one", chosen)
		}
		if reasons := WhyNot(disk, in.Needs); len(reasons) > 0 {
			return false, fmt.Sprintf("The chosen installation disk %s cannot be installed to: %s. At least %d GB are needed", chosen, strings.Join(reasons, "; "), in.Needs.DiskGB)
		}
	}
	if n := len(Eligible(in.Inventory, in.Needs)); n > 0 {
		return true, fmt.Sprintf("%d disks can be installed to", n)
	}
	return false, fmt.Sprintf("No disk can be installed to; one of at least %d GB is needed", in.Needs.DiskGB)
}

var hostnameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}(?:[.][a-z0-9-]{1,63})*$`)

const maxHostname = 63

// forbiddenNames are names that every host has.
var forbiddenNames = []string{"localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6", "localhost6.localdomain6"}

// Hostname returns the name that the host will have.
func Hostname(h *wire.Host, inventory *wire.Inventory) string {
	if h.RequestedHostname != "" || inventory == nil {
		return h.RequestedHostname
	}
	return inventory.Hostname
}

// ValidHostname reports whether a host may have the name.
func ValidHostname(name string) bool {
	return hostnameForm.MatchString(name) && len(name) <= maxHostname && !slices.Contains(forbiddenNames, name)
}

func hostnameValid(in Input) (bool, string) {
	name := Hostname(in.Host, in.Inventory)
	if ValidHostname(name) {
		return true, fmt.Sprintf("Hostname %s is valid", name)
	}
	return false, fmt.Sprintf("Hostname %q is not valid; set one of lower-case letters, digits, dots and dashes with at most %d characters", name, maxHostname)
}

func hostnameUnique(in Input) (bool, string) {
	name := Hostname(in.Host, in.Inventory)
	if slices.Contains(in.OtherNames, name) {
		return false, fmt.Sprintf("Hostname %s is used by another host of the cluster; set another one", name)
	}
	return true, fmt.Sprintf("Hostname %s is unique in the cluster", name)
}

func diskFast(in Input) (bool, string) {
	ms, measured := DiskSpeed(in.Host)
	switch {
	case !measured:
		return true, "The speed of the installation disk has not been measured"
	case in.Needs.DiskSpeedMs > 0 && ms > in.Needs.DiskSpeedMs:
		return false, fmt.Sprintf("The installation disk needs %d ms to sync, at most %d ms are allowed; choose another disk", ms, in.Needs.DiskSpeedMs)
	}
	return true, fmt.Sprintf("The installation disk syncs in %d ms", ms)
}

// DiskSpeed returns the measured speed of the host's installation disk, in
// milliseconds for one sync.
func DiskSpeed(h *wire.Host) (ms int64, measured bool) {
	var infos map[string]wire.DiskInfo
	if json.Unmarshal([]byte(h.DisksInfo), &infos) != nil {
		return 0, false
	}
	for _, info := range infos {
		if info.DiskSpeed != nil && info.DiskSpeed.Tested && slices.Contains([]string{h.InstallationDiskID, h.InstallationDiskPath}, info.Path) {
			return info.DiskSpeed.SpeedMs, true
		}
	}
	return 0, false
}

// Clock limits: how far a host's clock may be behind or ahead.
const (
	maxBehind = 20 * time.Minute
	maxAhead  = time.Hour
)

func clockNear(in Input) (bool, string) {
	if in.Host.Timestamp == 0 {
		return true, "The host's clock is not known"
	}
	// The clock was told at the last poll, not now.
	ahead := time.Unix(in.Host.Timestamp, 0).Sub(in.Host.CheckedInAt.Time)
	if ahead > maxAhead || -ahead > maxBehind {
		return false, fmt.Sprintf("The host's clock differs by %s from the hub's; give the host a time source", ahead.Round(time.Second))
	}
	return true, "The host's clock agrees with the hub's"
}

func defaultRoute(in Input) (bool, string) {
	for _, r := range in.Inventory.Routes {
		if r.Gateway != "" && (r.Destination == "0.0.0.0" || r.Destination == "::") {
			return true, "The host has a default route"
		}
	}
	return false, "The host has no default route; it may not reach its image registry"
}

func ntpSynced(in Input) (bool, string) {
	var sources []wire.NTPSource
	if in.Host.NTPSources != "" && json.Unmarshal([]byte(in.Host.NTPSources), &sources) == nil {
		if slices.ContainsFunc(sources, func(s wire.NTPSource) bool { return s.SourceState == wire.SourceStateSynced }) {
			return true, "The host is in step with a time source"
		}
	}
	return false, "The host is not in step with any time source"
}
