package inventory

import (
	"context"
	"net/netip"
	"strings"

	"github.com/ironflow/ironflow/agent/inventory/disks"
	"github.com/ironflow/ironflow/agent/inventory/network"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// Scenario returns the collectors of a pretended machine.
func Scenario(s *scenario.Scenario) []Collector {
	return []Collector{{Name: partScenario, Collect: func(context.Context) (Apply, error) {
		return func(inv *wire.Inventory) { pretend(inv, s) }, nil
	}}}
}

func pretend(inv *wire.Inventory, s *scenario.Scenario) {
	hw := s.Hardware
	inv.Hostname = s.Hostname
	if inv.Hostname == "" {
		inv.Hostname = s.Name
	}
	mode := hw.BootMode
	if mode == "" {
		mode = "uefi"
	}
	inv.Boot = &wire.Boot{CurrentBootMode: mode, SecureBootState: wire.SecureBootStateNotSupported, DeviceType: wire.BootDeviceTypeEphemeral}
	inv.CPU = &wire.CPU{
		Architecture: hw.CPU.Architecture, Count: int64(hw.CPU.Count), Frequency: hw.CPU.MHz,
		ModelName: hw.CPU.Model, Flags: list(hw.CPU.Flags),
	}
	bytes := hw.MemoryMiB << 20
	inv.Memory = &wire.Memory{PhysicalBytes: bytes, PhysicalBytesMethod: wire.MemoryMethodDmidecode, UsableBytes: bytes - bytes/64}
	inv.SystemVendor = &wire.SystemVendor{
		Manufacturer: orUnknown(hw.System.Manufacturer), ProductName: orUnknown(hw.System.Product), SerialNumber: orUnknown(hw.System.Serial),
	}
	inv.TPMVersion = wire.InventoryTPMVersionNone
	for _, nic := range hw.NICs {
		inv.Interfaces = append(inv.Interfaces, pretendNIC(nic))
		if nic.Gateway != "" {
			inv.Routes = append(inv.Routes, pretendRoute(nic))
		}
	}
	for _, disk := range hw.Disks {
		inv.Disks = append(inv.Disks, pretendDisk(disk))
	}
}

func pretendNIC(nic scenario.NIC) wire.Interface {
	carrier := nic.Carrier == nil || *nic.Carrier
	out := wire.Interface{
		Name: nic.Name, MACAddress: strings.ToLower(nic.MAC), HasCarrier: carrier, Type: "physical",
		MTU: int64(nic.MTU), SpeedMbps: int64(nic.SpeedMbps), Vendor: nic.Vendor, Product: nic.Product,
		Flags: []string{"up", "broadcast", "multicast"}, Ipv4Addresses: list(nic.IPv4), Ipv6Addresses: list(nic.IPv6),
	}
	if out.MTU == 0 {
		out.MTU = 1500
	}
	switch {
	case !carrier:
		out.SpeedMbps = -1
	case out.SpeedMbps == 0:
		out.SpeedMbps = 10000
	}
	return out
}

func pretendRoute(nic scenario.NIC) wire.Route {
	route := wire.Route{Destination: "0.0.0.0", Gateway: nic.Gateway, Interface: nic.Name, Metric: 100, Family: network.FamilyIPv4}
	if gw, err := netip.ParseAddr(nic.Gateway); err == nil && gw.Is6() {
		route.Destination, route.Family = "::", network.FamilyIPv6
	}
	return route
}

func pretendDisk(disk scenario.Disk) wire.Disk {
	out := wire.Disk{
		Name: disk.Name, Path: "/dev/" + disk.Name, SizeBytes: disk.SizeGiB << 30, Model: disk.Model, Vendor: disk.Vendor,
		Serial: disk.Serial, WWN: disk.WWN, HCTL: disk.HCTL, HasUUID: disk.WWN != "", DriveType: wire.DriveTypeSsd,
		InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true},
	}
	if disk.Type == "HDD" {
		out.DriveType = wire.DriveTypeHdd
	}
	switch {
	case disk.WWN == "":
	case strings.HasPrefix(disk.WWN, "eui."):
		out.ByID = "/dev/disk/by-id/" + "nvme-" + disk.WWN
	default:
		out.ByID = "/dev/disk/by-id/" + "wwn-" + disk.WWN
	}
	if disk.ByPath != "" {
		out.ByPath = "/dev/disk/by-path/" + disk.ByPath
	}
	out.ID = disks.ID(out)
	return out
}

func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}

func orUnknown(text string) string { return source.First(text, "unknown") }
