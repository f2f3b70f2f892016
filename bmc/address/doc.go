// Package address reads the BMC address of a host (spec.bmc.address) and says
// what Ironic needs for it: hardware type, interfaces and driver_info.
//
// It is pure: no look-ups, no connections. The schemes and their meaning are
// those of metal3.io, so an address that worked with baremetal-operator gives
// the same node here.
package address
