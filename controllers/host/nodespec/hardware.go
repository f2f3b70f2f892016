package nodespec

import (
	"math"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/ironflow/ironflow/ironic"
)

// HardwareDetails turns Ironic's inventory into the API's form.
func HardwareDetails(i *ironic.Inventory) *metal3.HardwareDetails {
	h := &metal3.HardwareDetails{
		SystemVendor: metal3.HardwareSystemVendor{
			Manufacturer: i.System.Manufacturer, ProductName: i.System.Product, SerialNumber: i.System.Serial,
		},
		Firmware: metal3.Firmware{BIOS: metal3.BIOS{
			Vendor: i.System.FirmwareVendor, Version: i.System.FirmwareVersion, Date: i.System.FirmwareDay,
		}},
		RAMMebibytes: i.MemoryMiB,
		CPU: metal3.CPU{
			Arch: i.CPU.Architecture, Model: i.CPU.Model, Count: i.CPU.Count,
			ClockMegahertz: metal3.ClockSpeed(math.Round(i.CPU.MHz)), Flags: slices.Sorted(slices.Values(i.CPU.Flags)),
		},
		Hostname: i.Hostname,
	}
	for _, nic := range i.NICs {
		h.NIC = append(h.NIC, nics(nic)...)
	}
	for _, disk := range i.Disks {
		h.Storage = append(h.Storage, storage(disk))
	}
	return h
}

// nics is one entry per address family, since the API has one address each.
func nics(n ironic.NICInfo) []metal3.NIC {
	base := metal3.NIC{
		Name: n.Name, MAC: n.MAC, PXE: n.PXE, PCIAddress: n.PCIAddress,
		Model:     strings.TrimSpace(n.Vendor + " " + n.Product),
		SpeedGbps: n.SpeedMbps / 1000,
		VLANID:    metal3.VLANID(n.LLDP.UntaggedVLAN),
	}
	for _, v := range n.LLDP.VLANs {
		base.VLANs = append(base.VLANs, metal3.VLAN{ID: metal3.VLANID(v.ID), Name: v.Name})
	}
	if n.LLDP.ChassisID != "" || n.LLDP.PortID != "" || n.LLDP.SystemName != "" {
		base.LLDP = &metal3.LLDP{SwitchID: n.LLDP.ChassisID, PortID: n.LLDP.PortID, SwitchSystemName: n.LLDP.SystemName}
	}
	var list []metal3.NIC
	for _, ip := range []string{n.IPv4, n.IPv6} {
		if ip != "" {
			entry := *base.DeepCopy()
			entry.IP = ip
			list = append(list, entry)
		}
	}
	if list == nil {
		list = []metal3.NIC{base}
	}
	return list
}

// storage is one disk. Its name is the stable one where there is one.
func storage(d ironic.DiskInfo) metal3.Storage {
	s := metal3.Storage{
		Name: d.Name, Rotational: d.Rotational, SizeBytes: metal3.Capacity(d.SizeBytes), Type: diskType(d),
		Vendor: d.Vendor, Model: d.Model, SerialNumber: d.Serial, HCTL: d.HCTL,
		WWN: d.WWN, WWNVendorExtension: d.WWNVendorExtension, WWNWithExtension: d.WWNWithExtension,
	}
	if d.Name != "" {
		s.AlternateNames = append(s.AlternateNames, d.Name)
	}
	if d.ByPath != "" {
		s.Name = d.ByPath
		s.AlternateNames = append(s.AlternateNames, d.ByPath)
	}
	return s
}

func diskType(d ironic.DiskInfo) metal3.DiskType {
	switch {
	case d.Rotational:
		return metal3.HDD
	case strings.HasPrefix(d.Name, "/dev/nvme"):
		return metal3.NVME
	}
	return metal3.SSD
}

// SameHardware compares two hardware descriptions by content.
func SameHardware(a, b *metal3.HardwareDetails) bool {
	return a != nil && b != nil && equality.Semantic.DeepEqual(a, b)
}
