package nodespec

import (
	"net"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// Ports are the network interfaces that Ironic shall know: the one that the machine
// boots from, and what inspection has found. With a boot MAC address the machine
// boots from no other, and can do without the rest: the boot MAC address alone tells
// machines apart. Interfaces that are shared (their address is on other hosts' machines
// as well) get no port.
func Ports(h *metal3.BareMetalHost, hardware *metal3.HardwareDetails, shared []string) []ironic.Port {
	boot := strings.ToLower(h.Spec.BootMACAddress)
	var list []ironic.Port
	if boot != "" {
		list = append(list, ironic.Port{MAC: boot, PXEEnabled: true})
	}
	if hardware == nil {
		hardware = h.Status.HardwareDetails
	}
	for mac, nic := range cards(hardware) {
		if mac != boot && (boot == "" || !slices.Contains(shared, mac)) {
			list = append(list, ironic.Port{MAC: mac, PXEEnabled: nic.PXE && boot == "", Optional: true})
		}
	}
	return list
}

// cards are the network cards of a machine that can have a port in Ironic, by MAC address.
func cards(hardware *metal3.HardwareDetails) func(yield func(string, metal3.NIC) bool) {
	return func(yield func(string, metal3.NIC) bool) {
		if hardware == nil {
			return
		}
		seen := map[string]bool{}
		tells := slices.ContainsFunc(hardware.NIC, func(n metal3.NIC) bool { return n.PCIAddress != "" })
		for _, nic := range hardware.NIC {
			mac := strings.ToLower(nic.MAC)
			// One without a PCI address is often the BMC's own, by USB, with the same MAC
			// address on all machines. Old ramdisks tell the address of none.
			if seen[mac] || !isEthernet(mac) || tells && nic.PCIAddress == "" {
				continue
			}
			seen[mac] = true
			if !yield(mac, nic) {
				return
			}
		}
	}
}

// isEthernet reports whether an address can be that of one Ethernet card. InfiniBand has
// addresses of 20 octets, which Ironic refuses; cards without a link layer have none, or
// one of zeros.
func isEthernet(mac string) bool {
	octets, err := net.ParseMAC(mac)
	return err == nil && len(octets) == 6 && octets[0]&1 == 0 && slices.ContainsFunc(octets, func(b byte) bool { return b != 0 })
}

// HardwareMACs are the MAC addresses that inspection has found on a host's machine, but
// that which it boots from.
func HardwareMACs(h *metal3.BareMetalHost) []string { return MACsIn(h.Status.HardwareDetails, h) }

// MACsIn are those of other hardware details than the status has, such as those of an inspection that is yet to be stored.
func MACsIn(hardware *metal3.HardwareDetails, h *metal3.BareMetalHost) []string {
	var list []string
	for mac := range cards(hardware) {
		if mac != strings.ToLower(h.Spec.BootMACAddress) {
			list = append(list, mac)
		}
	}
	return list
}

// PortsGone are the ports that a node may have and shall not, now that an inspection has
// been made: those of network interfaces that were known before and are not found any
// more, and those that Ironic itself has made for interfaces that get none. Ports that
// no inspection knew of are somebody's own, and one that has found no interface at all
// says nothing.
func PortsGone(h *metal3.BareMetalHost, known *metal3.HardwareDetails, found *ironic.Inventory, want []ironic.Port) []string {
	if found == nil || len(found.NICs) == 0 {
		return nil
	}
	candidates := Ports(h, known, nil)
	for _, nic := range found.NICs {
		candidates = append(candidates, ironic.Port{MAC: strings.ToLower(nic.MAC)})
	}
	var gone []string
	for _, p := range candidates {
		wanted := slices.ContainsFunc(want, func(w ironic.Port) bool { return w.MAC == p.MAC })
		if !wanted && isEthernet(p.MAC) && !slices.Contains(gone, p.MAC) {
			gone = append(gone, p.MAC)
		}
	}
	return gone
}

// BootsAsSeen reports whether an inspection has seen the machine boot from its boot
// MAC address and no other. Ironic sets pxe_enabled of all ports by what was seen, and
// nothing was if the machine has booted from virtual media.
func BootsAsSeen(h *metal3.BareMetalHost, i *ironic.Inventory) bool {
	boot := strings.ToLower(h.Spec.BootMACAddress)
	if boot == "" {
		return true
	}
	var seen []string
	for _, nic := range i.NICs {
		if nic.PXE {
			seen = append(seen, strings.ToLower(nic.MAC))
		}
	}
	return len(seen) == 1 && seen[0] == boot
}

// PortsLacking are those of a list that a key does not name.
func PortsLacking(list []ironic.Port, key string) []ironic.Port {
	there := strings.Fields(strings.ReplaceAll(key, "*", ""))
	return slices.DeleteFunc(slices.Clone(list), func(p ironic.Port) bool { return slices.Contains(there, p.MAC) })
}

// PortsKey names a set of ports of a node, to remember that they were seen to.
func PortsKey(uuid string, list []ironic.Port) string {
	var parts []string
	for _, p := range list {
		part := p.MAC
		if p.PXEEnabled {
			part += "*"
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	return uuid + " " + strings.Join(parts, " ")
}
