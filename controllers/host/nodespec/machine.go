package nodespec

import (
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/address"
)

// A machine is the system behind its BMC and the MAC address that it boots from. No other
// address tells machines apart.

// MachineKeys are what a host is found by among all: its BMC, its boot MAC address, and
// what other MAC addresses its machine has. Hosts with a key in common may be one
// machine: see [SameMachine] and [HardwareMACs].
func MachineKeys(h *metal3.BareMetalHost) []string {
	var keys []string
	if bmc, _, known := machineOf(h); known {
		keys = append(keys, KeyBMC+bmc)
	}
	if h.Spec.BootMACAddress != "" {
		keys = append(keys, KeyMAC+strings.ToLower(h.Spec.BootMACAddress))
	}
	for _, mac := range HardwareMACs(h) {
		keys = append(keys, KeyMAC+mac)
	}
	return keys
}

// What keys of machines begin with.
const (
	KeyBMC = "bmc "
	KeyMAC = "mac "
)

// SameMachine says what two hosts have in common that only one machine can have; empty
// for nothing.
func SameMachine(a, b *metal3.BareMetalHost) string {
	bmcA, systemA, knownA := machineOf(a)
	bmcB, systemB, knownB := machineOf(b)
	switch {
	case knownA && knownB && bmcA == bmcB && (systemA == systemB || systemA == "" || systemB == ""):
		return "BMC address " + b.Spec.BMC.Address
	case a.Spec.BootMACAddress != "" && strings.EqualFold(a.Spec.BootMACAddress, b.Spec.BootMACAddress):
		return "boot MAC address " + b.Spec.BootMACAddress
	}
	return ""
}

// machineOf reads the address of a host's BMC; known is false where there is none that
// can be read.
func machineOf(h *metal3.BareMetalHost) (bmc, system string, known bool) {
	if h.Spec.BMC.Address == "" {
		return "", "", false
	}
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil {
		return "", "", false
	}
	bmc, system = a.Machine()
	return bmc, system, true
}
