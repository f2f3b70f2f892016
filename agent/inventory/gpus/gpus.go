// Package gpus finds graphics processors and other accelerators among the PCI
// functions. Which count is a table of classes, vendors and models: [Defaults],
// or what a configuration file says.
package gpus

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/inventory/gpus/pciids"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

const pciDir = "/sys/bus/pci/devices"

// Read lists the accelerators in the order of their addresses.
func Read(m source.Machine, config Config) []wire.Gpu {
	gpus := []wire.Gpu{}
	var devices []pciids.Device
	for _, address := range m.Names(pciDir) {
		class := hexID(m.Line(pciDir, address, "class"), 4)
		vendor, device := hexID(m.Line(pciDir, address, "vendor"), 4), hexID(m.Line(pciDir, address, "device"), 4)
		if !config.wants(class, vendor, device) {
			continue
		}
		gpus = append(gpus, wire.Gpu{Address: address, VendorID: vendor, DeviceID: device})
		devices = append(devices, pciids.Device{VendorID: vendor, DeviceID: device})
	}
	pciids.Name(m, devices)
	for i, d := range devices {
		// An id is better than nothing to a person who looks for the device.
		gpus[i].Vendor, gpus[i].Name = source.First(d.Vendor, d.VendorID), source.First(d.Name, d.DeviceID)
	}
	slices.SortFunc(gpus, func(a, b wire.Gpu) int { return cmp.Compare(a.Address, b.Address) })
	return gpus
}

// hexID cuts "0x030000" to its first digits, without the prefix.
func hexID(text string, digits int) string {
	text = strings.ToLower(strings.TrimPrefix(text, "0x"))
	return text[:min(len(text), digits)]
}
