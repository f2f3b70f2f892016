package support

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

var allPlatforms = []wire.PlatformType{
	wire.PlatformTypeBaremetal, wire.PlatformTypeNone, wire.PlatformTypeExternal, wire.PlatformTypeNutanix, wire.PlatformTypeVsphere,
}

// vendors are platforms that a machine has to be made by.
var vendors = map[wire.PlatformType]string{wire.PlatformTypeNutanix: "nutanix", wire.PlatformTypeVsphere: "vmware"}

// Platforms returns what a cluster with these machines can be. A platform that is
// tied to a vendor needs all of them to be its own; a cluster without machines can
// become anything. Unknown machines are nil.
func Platforms(singleNode bool, machines []*wire.Inventory) []wire.PlatformType {
	if singleNode {
		return []wire.PlatformType{wire.PlatformTypeNone, wire.PlatformTypeExternal}
	}
	out := []wire.PlatformType{}
	for _, p := range allPlatforms {
		vendor, tied := vendors[p]
		if tied && slices.ContainsFunc(machines, func(i *wire.Inventory) bool { return !madeBy(i, vendor) }) {
			continue
		}
		out = append(out, p)
	}
	return out
}

func madeBy(i *wire.Inventory, vendor string) bool {
	return i != nil && i.SystemVendor != nil && strings.Contains(strings.ToLower(i.SystemVendor.Manufacturer), vendor)
}
