package nodespec

import (
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// Ports are the network interfaces that Ironic shall know: the one that the machine
// boots from, and what inspection has found. With a boot MAC address the machine
// boots from no other.
func Ports(h *metal3.BareMetalHost, hardware *metal3.HardwareDetails) []ironic.Port {
	boot := strings.ToLower(h.Spec.BootMACAddress)
	var list []ironic.Port
	seen := map[string]bool{"": true}
	add := func(mac string, pxe bool) {
		mac = strings.ToLower(mac)
		if !seen[mac] {
			seen[mac] = true
			list = append(list, ironic.Port{MAC: mac, PXEEnabled: pxe})
		}
	}
	add(boot, true)
	if hardware == nil {
		hardware = h.Status.HardwareDetails
	}
	if hardware != nil {
		for _, nic := range hardware.NIC {
			add(nic.MAC, nic.PXE && boot == "")
		}
	}
	return list
}

// PortsGone are the ports of network interfaces that were known before an inspection
// and are not found by it any more. Ports that no inspection knew of are somebody's
// own, and one that has found no interface at all says nothing.
func PortsGone(h *metal3.BareMetalHost, known *metal3.HardwareDetails, found *ironic.Inventory, want []ironic.Port) []string {
	if found == nil || len(found.NICs) == 0 {
		return nil
	}
	var gone []string
	for _, p := range Ports(h, known) {
		if !slices.ContainsFunc(want, func(w ironic.Port) bool { return w.MAC == p.MAC }) {
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
