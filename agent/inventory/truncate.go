package inventory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Options are the limits that a hub or a command line sets.
type Options struct {
	// OutputMaxSize bounds the JSON in bytes, DiskMinSize is the smallest disk
	// in bytes that is listed; 0 means no limit.
	OutputMaxSize, DiskMinSize int64
}

// ParseStep reads the arguments of an inventory step: the host's id and
// optional limits.
func ParseStep(args []string) (Options, error) {
	var o Options
	if err := steps.Strings(args, 1, 3); err != nil {
		return o, err
	}
	if _, err := uuid.Parse(args[0]); err != nil {
		return o, fmt.Errorf("host id %q is not a UUID", args[0])
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		size, err := strconv.ParseInt(value, 10, 64)
		if err != nil || size < 0 {
			return o, fmt.Errorf("argument %q: want a number of bytes", arg)
		}
		switch name {
		case "--output-max-size":
			o.OutputMaxSize = size
		case "--disk-min-size":
			o.DiskMinSize = size
		default:
			return o, fmt.Errorf("argument %q is not known", arg)
		}
	}
	return o, nil
}

// Print renders the inventory within the limits: first small disks go, then
// those that cannot be installed on, then all but what the protocol demands.
func Print(inv wire.Inventory, o Options) ([]byte, error) {
	if o.DiskMinSize > 0 {
		inv.Disks = slices.DeleteFunc(slices.Clone(inv.Disks), func(d wire.Disk) bool { return d.SizeBytes < o.DiskMinSize })
	}
	raw, err := json.Marshal(inv)
	if err != nil || o.OutputMaxSize <= 0 || int64(len(raw)) <= o.OutputMaxSize {
		return raw, err
	}
	all := len(inv.Disks)
	inv.Disks = slices.DeleteFunc(slices.Clone(inv.Disks), func(d wire.Disk) bool { return !d.InstallationEligibility.Eligible })
	inv.Truncation = &wire.InventoryTruncation{Type: wire.InventoryTruncationTypePartial, Reasons: []string{
		fmt.Sprintf("%d of %d disks are left out because they cannot be installed on", all-len(inv.Disks), all),
	}}
	if raw, err = json.Marshal(inv); err != nil || int64(len(raw)) <= o.OutputMaxSize {
		return raw, err
	}
	small := empty()
	small.Truncation = &wire.InventoryTruncation{Type: wire.InventoryTruncationTypeFull, Reasons: []string{
		fmt.Sprintf("the inventory with %d disks is larger than %d bytes", all, o.OutputMaxSize),
	}}
	return json.Marshal(small)
}
