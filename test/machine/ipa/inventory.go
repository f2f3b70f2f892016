package ipa

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"github.com/ironflow/ironflow/agent/scenario"
)

// Inventory is the hardware inventory that the agent sends: the real agent's
// list_hardware_info. A nil is JSON's null, which says "not found".
type Inventory struct {
	Interfaces   []Interface  `json:"interfaces"`
	CPU          CPU          `json:"cpu"`
	Disks        []Disk       `json:"disks"`
	Memory       Memory       `json:"memory"`
	BMCAddress   *string      `json:"bmc_address"`
	BMCv6Address *string      `json:"bmc_v6address"`
	SystemVendor SystemVendor `json:"system_vendor"`
	Boot         Boot         `json:"boot"`
	Hostname     string       `json:"hostname"`
}

// Interface is one network interface. Addresses are without prefix length.
type Interface struct {
	Name        string  `json:"name"`
	MACAddress  string  `json:"mac_address"`
	IPv4Address *string `json:"ipv4_address"`
	IPv6Address *string `json:"ipv6_address"`
	HasCarrier  bool    `json:"has_carrier"`
	LLDP        any     `json:"lldp"`
	Vendor      *string `json:"vendor"`
	Product     *string `json:"product"`
	ClientID    *string `json:"client_id"`
	BIOSDevName *string `json:"biosdevname"`
	SpeedMbps   *int    `json:"speed_mbps"`
	PCIAddress  *string `json:"pci_address"`
	Driver      *string `json:"driver"`
}

// CPU describes all processors; the frequency is MHz as text.
type CPU struct {
	ModelName    string   `json:"model_name"`
	Frequency    string   `json:"frequency"`
	Count        int      `json:"count"`
	Architecture string   `json:"architecture"`
	Flags        []string `json:"flags"`
	SocketCount  int      `json:"socket_count"`
}

// Disk is one block device; the size is in bytes.
type Disk struct {
	Name               string  `json:"name"`
	Model              *string `json:"model"`
	Size               int64   `json:"size"`
	Rotational         bool    `json:"rotational"`
	WWN                *string `json:"wwn"`
	Serial             *string `json:"serial"`
	Vendor             *string `json:"vendor"`
	WWNWithExtension   *string `json:"wwn_with_extension"`
	WWNVendorExtension *string `json:"wwn_vendor_extension"`
	HCTL               *string `json:"hctl"`
	ByPath             *string `json:"by_path"`
	LogicalSectors     *int    `json:"logical_sectors"`
	PhysicalSectors    *int    `json:"physical_sectors"`
	Transport          *string `json:"tran"`
}

// Memory is what the kernel sees in bytes and what is installed in MiB.
type Memory struct {
	Total      int64 `json:"total"`
	PhysicalMB int64 `json:"physical_mb"`
}

// SystemVendor is the SMBIOS system data.
type SystemVendor struct {
	ProductName  string   `json:"product_name"`
	SerialNumber string   `json:"serial_number"`
	Manufacturer string   `json:"manufacturer"`
	Firmware     Firmware `json:"firmware"`
}

// Firmware is the system firmware.
type Firmware struct {
	Vendor    string `json:"vendor"`
	Version   string `json:"version"`
	BuildDate string `json:"build_date"`
}

// Boot tells how the live system was booted.
type Boot struct {
	CurrentBootMode string  `json:"current_boot_mode"`
	PXEInterface    *string `json:"pxe_interface"`
}

const (
	gib = 1 << 30
	mib = 1 << 20
	// minRootDisk is the smallest disk that the agent takes for the root disk.
	minRootDisk = 4 * gib
	// kernelMemory is what a kernel keeps of the installed memory for itself.
	kernelMemory = 96 * mib
)

// NewInventory is what inspection finds on the machine of the scenario.
func NewInventory(s *scenario.Scenario) Inventory {
	h := s.Hardware
	inv := Inventory{
		CPU: CPU{
			ModelName: h.CPU.Model, Frequency: strconv.FormatFloat(h.CPU.MHz, 'f', 4, 64), Count: h.CPU.Count,
			Architecture: h.CPU.Architecture, Flags: slices.Clone(h.CPU.Flags), SocketCount: 1,
		},
		Memory: Memory{Total: h.MemoryMiB*mib - kernelMemory, PhysicalMB: h.MemoryMiB},
		SystemVendor: SystemVendor{
			ProductName: h.System.Product, SerialNumber: h.System.Serial, Manufacturer: h.System.Manufacturer,
			Firmware: Firmware{Vendor: h.System.Manufacturer, Version: "1.0", BuildDate: "01/01/2026"},
		},
		Boot:     Boot{CurrentBootMode: cmp.Or(h.BootMode, "uefi")},
		Hostname: cmp.Or(s.Hostname, s.Name),
	}
	for _, nic := range h.NICs {
		inv.Interfaces = append(inv.Interfaces, newInterface(nic))
	}
	for _, disk := range h.Disks {
		inv.Disks = append(inv.Disks, newDisk(disk))
	}
	if inv.CPU.Flags == nil {
		inv.CPU.Flags = []string{}
	}
	return inv
}

func newInterface(nic scenario.NIC) Interface {
	out := Interface{
		Name: nic.Name, MACAddress: nic.MAC, HasCarrier: nic.Carrier == nil || *nic.Carrier,
		IPv4Address: firstAddress(nic.IPv4), IPv6Address: firstAddress(nic.IPv6),
		Vendor: text(nic.Vendor), Product: text(nic.Product),
	}
	if nic.SpeedMbps > 0 {
		out.SpeedMbps = &nic.SpeedMbps
	}
	return out
}

func newDisk(d scenario.Disk) Disk {
	sector := 512
	transport := "sata"
	if d.Type == "NVME" {
		transport = "nvme"
	}
	out := Disk{
		Name: "/dev/" + d.Name, Model: text(d.Model), Size: d.SizeGiB * gib, Rotational: d.Type == "HDD",
		WWN: text(d.WWN), Serial: text(d.Serial), Vendor: text(d.Vendor), WWNWithExtension: text(d.WWN), HCTL: text(d.HCTL),
		LogicalSectors: &sector, PhysicalSectors: &sector, Transport: &transport,
	}
	if d.ByPath != "" {
		out.ByPath = text("/dev/disk/by-path/" + d.ByPath)
	}
	return out
}

// RootDisk is the disk that the agent would deploy to without hints: the
// smallest one of at least 4 GiB. Nil when there is none.
func (inv Inventory) RootDisk() *Disk {
	disks := slices.SortedFunc(slices.Values(inv.Disks), func(a, b Disk) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	i := slices.IndexFunc(disks, func(d Disk) bool { return d.Size >= minRootDisk })
	if i < 0 {
		return nil
	}
	return &disks[i]
}

// macs are the addresses that Ironic looks the node up by.
func (inv Inventory) macs() []string {
	var out []string
	for _, nic := range inv.Interfaces {
		if nic.MACAddress != "" {
			out = append(out, nic.MACAddress)
		}
	}
	return out
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func firstAddress(cidrs []string) *string {
	if len(cidrs) == 0 {
		return nil
	}
	prefix, err := netip.ParsePrefix(cidrs[0])
	if err != nil {
		return nil
	}
	return text(prefix.Addr().String())
}
