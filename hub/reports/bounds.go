package reports

import "github.com/ironflow/ironflow/hub/wire"

// What a host may have the hub keep, in bytes of the output of one step. A host of some
// thousand disks has an inventory of a few MiB, and a report of its connectivity has up to
// 2 KiB for each other host of its cluster; the others have some KiB.
const (
	maxInventory    = 8 << 20
	maxConnectivity = 4 << 20
	maxOutput       = 256 << 10
)

// Bounds of the images that a host reports: a release asks for four.
const (
	maxImages    = 32
	maxImageName = 512
)

// longest is how long the output of a step may be.
func longest(step wire.StepType) int {
	switch step {
	case wire.StepTypeInventory:
		return maxInventory
	case wire.StepTypeConnectivityCheck:
		return maxConnectivity
	default:
		return maxOutput
	}
}
