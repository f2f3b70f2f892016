package nodespec

import (
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/ironic"
)

// A machine is the system behind its BMC and the MAC address that it boots from. No other
// address tells machines apart.

// MachineKeys are what a host is found by among all: its BMC, the system behind that, and
// the MAC addresses of its machine, that which it boots from by a key of its own, too.
func MachineKeys(h *metal3.BareMetalHost) []string {
	keys := BMCKeys(h)
	if h.Spec.BootMACAddress != "" {
		keys = append(keys, KeyOfMAC(h.Spec.BootMACAddress), KeyOfBootMAC(h.Spec.BootMACAddress))
	}
	for _, mac := range HardwareMACs(h) {
		keys = append(keys, KeyOfMAC(mac))
	}
	return keys
}

// BMCKeys are those of them that say which BMC it is, and which system behind that. A
// host's node keeps them.
func BMCKeys(h *metal3.BareMetalHost) []string { return machineOf(h).keys() }

func (m machine) keys() []string {
	if !m.known {
		return nil
	}
	keys := []string{keyBMC + m.bmc, keyOfSystem(m.bmc, m.system)}
	if m.device != "" {
		keys = append(keys, keyOfDevice(m.family, m.device))
	}
	return keys
}

// MachineText is how a node keeps the keys of its host's BMC. With keys of another form, all nodes of before would be of
// other machines, and be replaced.
func MachineText(h *metal3.BareMetalHost) string { return strings.Join(BMCKeys(h), "\n") }

// OfOtherMachine reports whether a node is of another machine than its host says. One whose BMC is yet
// to be verified is of none so far. n is the node in full, or nil for one that was not read, and row what
// the watch keeps of it: a node that baremetal-operator has enrolled tells by its driver_info alone.
func OfOtherMachine(h *metal3.BareMetalHost, row *ironic.Row, n *ironic.Node) bool {
	if row.ProvisionState == ironic.StateEnroll || row.ProvisionState == ironic.StateVerifying {
		return false
	}
	var keys []string
	if text := MachineOf(row, n); text != "" {
		keys = strings.Split(text, "\n")
	}
	same := SameBMCKeys(h)
	return len(keys) > 0 && len(same) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(same, key) })
}

// MachineOf is which machine a node is of, as [MachineText] has it: what is kept on it, or else what its driver_info
// says, if it was read in full (n is not nil). It is empty where that is not known.
func MachineOf(row *ironic.Row, n *ironic.Node) string {
	if row.Machine != "" || n == nil {
		return row.Machine
	}
	return strings.Join(machineAt(address.OfDriverInfo(n.DriverInfo)).keys(), "\n")
}

// DoubleKeys are the keys of all hosts that may be of a host's machine: [SameMachine] tells
// whether they are. One BMC may have thousands of systems, of which one is looked for.
func DoubleKeys(h *metal3.BareMetalHost) []string {
	keys := SameBMCKeys(h)
	if h.Spec.BootMACAddress != "" {
		keys = append(keys, KeyOfMAC(h.Spec.BootMACAddress))
	}
	return keys
}

// SameBMCKeys are those of [BMCKeys] of which whatever has one is of a host's machine.
func SameBMCKeys(h *metal3.BareMetalHost) []string {
	var keys []string
	m := machineOf(h)
	switch {
	case !m.known:
	case m.system == "":
		keys = append(keys, keyBMC+m.bmc)
	default:
		keys = append(keys, keyOfSystem(m.bmc, m.system), keyOfSystem(m.bmc, ""))
	}
	if m.device != "" {
		keys = append(keys, keyOfDevice(otherFamily[m.family], m.device))
	}
	return keys
}

// otherFamily is the other protocol that a BMC may speak.
var otherFamily = map[address.Family]address.Family{address.IPMI: address.Redfish, address.Redfish: address.IPMI}

// keyOfDevice is the key of a BMC that is reached by a protocol at that one's own port.
func keyOfDevice(family address.Family, device string) string {
	return "device " + string(family) + " " + device
}

// keyBMC begins the key of a BMC.
const keyBMC = "bmc "

// keyOfSystem is the key of a system behind a BMC; empty for the only one.
func keyOfSystem(bmc, system string) string { return "system " + bmc + " " + system }

// KeyOfMAC is the key of a MAC address.
func KeyOfMAC(mac string) string { return "mac " + strings.ToLower(mac) }

// KeyOfBootMAC is the key of a MAC address for the hosts that boot from it.
func KeyOfBootMAC(mac string) string { return "boot mac " + strings.ToLower(mac) }

// FoundOn reports whether an inspection has found what a host boots from on another host's machine.
func FoundOn(other, h *metal3.BareMetalHost) bool {
	return h.Spec.BootMACAddress != "" && slices.Contains(HardwareMACs(other), strings.ToLower(h.Spec.BootMACAddress))
}

// SameMachine says what two hosts have in common that only one machine can have; empty
// for nothing.
func SameMachine(a, b *metal3.BareMetalHost) string {
	x, y := machineOf(a), machineOf(b)
	switch {
	case x.known && y.known && x.bmc == y.bmc && (x.system == y.system || x.system == "" || y.system == ""):
		return "BMC address " + b.Spec.BMC.Address
	case x.device != "" && x.device == y.device && x.family != y.family:
		return "BMC, by another protocol, at address " + b.Spec.BMC.Address
	case a.Spec.BootMACAddress != "" && strings.EqualFold(a.Spec.BootMACAddress, b.Spec.BootMACAddress):
		return "boot MAC address " + b.Spec.BootMACAddress
	}
	return ""
}

// machine is what the address of a host's BMC says; known is false where there is none that
// can be read.
type machine struct {
	bmc, system string
	family      address.Family
	device      string
	known       bool
}

func machineOf(h *metal3.BareMetalHost) machine {
	return machineAt(h.Spec.BMC.Address)
}

func machineAt(text string) machine {
	if text == "" {
		return machine{}
	}
	a, err := address.Parse(text)
	if err != nil {
		return machine{}
	}
	m := machine{family: a.Family, device: a.Device(), known: true}
	m.bmc, m.system = a.Machine()
	return m
}
