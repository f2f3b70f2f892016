package agents

import (
	"encoding/json"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// inventory projects the inventory that a host reported. An inventory that
// cannot be read shows as an empty one: the hub's own checks say why.
func inventory(raw string) agentv1.HostInventory {
	var in wire.Inventory
	if raw == "" || json.Unmarshal([]byte(raw), &in) != nil {
		return agentv1.HostInventory{}
	}
	out := agentv1.HostInventory{Hostname: in.Hostname, BmcAddress: in.BmcAddress, BmcV6address: in.BmcV6address}
	if m := in.Memory; m != nil {
		out.Memory = agentv1.HostMemory{PhysicalBytes: m.PhysicalBytes, UsableBytes: m.UsableBytes}
	}
	if c := in.CPU; c != nil {
		out.Cpu = agentv1.HostCPU{
			Count: c.Count, ClockMegahertz: int64(c.Frequency), Flags: c.Flags, ModelName: c.ModelName, Architecture: c.Architecture,
		}
	}
	if b := in.Boot; b != nil {
		out.Boot = agentv1.HostBoot{CurrentBootMode: b.CurrentBootMode, PxeInterface: b.PXEInterface, DeviceType: b.DeviceType}
	}
	if v := in.SystemVendor; v != nil {
		out.SystemVendor = agentv1.HostSystemVendor{
			SerialNumber: v.SerialNumber, ProductName: v.ProductName, Manufacturer: v.Manufacturer, Virtual: v.Virtual,
		}
	}
	for _, n := range in.Interfaces {
		out.Interfaces = append(out.Interfaces, nic(n))
	}
	for _, d := range in.Disks {
		out.Disks = append(out.Disks, disk(d))
	}
	for _, g := range in.GPUs {
		out.Gpus = append(out.Gpus, agentv1.HostGPU{Address: g.Address, DeviceID: g.DeviceID, Name: g.Name, Vendor: g.Vendor, VendorID: g.VendorID})
	}
	return out
}

func nic(n wire.Interface) agentv1.HostInterface {
	return agentv1.HostInterface{
		Name: n.Name, MacAddress: n.MACAddress, IPV4Addresses: present(n.Ipv4Addresses), IPV6Addresses: present(n.Ipv6Addresses), Flags: present(n.Flags),
		HasCarrier: n.HasCarrier, Mtu: n.MTU, SpeedMbps: n.SpeedMbps, Vendor: n.Vendor, Product: n.Product,
		ClientId: n.ClientID, BiosDevName: n.Biosdevname,
	}
}

func disk(d wire.Disk) agentv1.HostDisk {
	out := agentv1.HostDisk{
		ID: d.ID, Name: d.Name, Path: d.Path, ByPath: d.ByPath, ByID: d.ByID, DriveType: string(d.DriveType), SizeBytes: d.SizeBytes,
		Vendor: d.Vendor, Model: d.Model, Serial: d.Serial, Wwn: d.WWN, Hctl: d.HCTL, Bootable: d.Bootable, Smart: d.Smart,
		InstallationEligibility: agentv1.HostInstallationEligibility{
			Eligible: d.InstallationEligibility.Eligible, NotEligibleReasons: present(d.InstallationEligibility.NotEligibleReasons),
		},
	}
	if d.IoPerf != nil {
		out.IoPerf.SyncDurationMilliseconds = d.IoPerf.SyncDuration
	}
	return out
}

// present keeps a required member present: in a merge patch, null takes it away.
func present(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
