// Package metrics has the figures of BMCs: what was asked of them and with which
// outcome, and how the fleet is, counted from the kind BMC when somebody asks. None of
// them names a host or a sensor: a fleet has too many of those for its monitoring.
//
// Entry points: [New] and [RegisterFleet].
package metrics
