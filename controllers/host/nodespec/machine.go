package nodespec

import (
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/address"
)

// A machine is the system behind its BMC and the MAC address that it boots from. No other
// address tells machines apart.

// MachineKeys are what a host is found by among all: its BMC, the system behind that, and
// the MAC addresses of its machine.
func MachineKeys(h *metal3.BareMetalHost) []string {
	var keys []string
	if bmc, system, known := machineOf(h); known {
		keys = append(keys, keyBMC+bmc, keyOfSystem(bmc, system))
	}
	if h.Spec.BootMACAddress != "" {
		keys = append(keys, KeyOfMAC(h.Spec.BootMACAddress))
	}
	for _, mac := range HardwareMACs(h) {
		keys = append(keys, KeyOfMAC(mac))
	}
	return keys
}

// DoubleKeys are the keys of all hosts that may be of a host's machine: [SameMachine] tells
// whether they are. One BMC may have thousands of systems, of which one is looked for.
func DoubleKeys(h *metal3.BareMetalHost) []string {
	var keys []string
	switch bmc, system, known := machineOf(h); {
	case !known:
	case system == "":
		keys = append(keys, keyBMC+bmc)
	default:
		keys = append(keys, keyOfSystem(bmc, system), keyOfSystem(bmc, ""))
	}
	if h.Spec.BootMACAddress != "" {
		keys = append(keys, KeyOfMAC(h.Spec.BootMACAddress))
	}
	return keys
}

// keyBMC begins the key of a BMC.
const keyBMC = "bmc "

// keyOfSystem is the key of a system behind a BMC; empty for the only one.
func keyOfSystem(bmc, system string) string { return "system " + bmc + " " + system }

// KeyOfMAC is the key of a MAC address.
func KeyOfMAC(mac string) string { return "mac " + strings.ToLower(mac) }

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
