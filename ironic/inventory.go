package ironic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// Inventory is the result of a node's last inspection: what the ramdisk, or the
// BMC, reported. Empty fields were not reported.
type Inventory struct {
	Hostname   string
	BMCAddress string
	System     SystemInfo
	BootMode   string // "uefi" or "bios"
	CPU        CPUInfo
	MemoryMiB  int
	Disks      []DiskInfo
	NICs       []NICInfo
}

// SystemInfo names the machine and its firmware.
type SystemInfo struct {
	Manufacturer, Product, Serial                string
	FirmwareVendor, FirmwareVersion, FirmwareDay string
}

// CPUInfo describes the processors. Flags are sorted.
type CPUInfo struct {
	Architecture string
	Model        string
	Count        int     // logical processors
	MHz          float64 // 0 when unknown
	Flags        []string
}

// DiskInfo is one block device.
type DiskInfo struct {
	Name               string // /dev/sda
	ByPath             string // /dev/disk/by-path/…, or empty
	Model              string
	Vendor             string
	Serial             string
	HCTL               string
	WWN                string
	WWNVendorExtension string
	WWNWithExtension   string
	SizeBytes          int64
	Rotational         bool
}

// NICInfo is one network interface.
type NICInfo struct {
	Name       string
	MAC        string // lower case
	IPv4, IPv6 string
	Vendor     string
	Product    string
	PCIAddress string
	SpeedMbps  int
	Carrier    bool
	PXE        bool // the machine booted from it, or could
	LLDP       LLDPInfo
}

// LLDPInfo is what the switch said about the port that a NIC is plugged into.
type LLDPInfo struct {
	ChassisID, PortID, SystemName string
	UntaggedVLAN                  int // 0 when not said
	VLANs                         []VLANInfo
}

// VLANInfo is one tagged VLAN of a switch port.
type VLANInfo struct {
	ID   int
	Name string
}

// Inventory reads the result of the node's last inspection. ErrNoInventory
// means that there was none.
func (g *Gateway) Inventory(ctx context.Context, uuid string) (*Inventory, error) {
	var raw json.RawMessage
	err := g.get(ctx, "get inventory", uuid, nodePath(uuid, "inventory"), &raw)
	if statusOf(err) == http.StatusNotFound && KindOf(err) != Gone {
		return nil, ErrNoInventory
	}
	if err != nil {
		return nil, err
	}
	var w wireInventory
	if err := json.Unmarshal(raw, &w); err != nil && !lenient.OnlyTypes(err) {
		return nil, fmt.Errorf("read the inventory of node %s: %w", uuid, err)
	}
	return w.inventory(), nil
}

// wireInventory is the JSON of GET inventory. What the ramdisk or the BMC reports is stored
// by Ironic as it comes: a value of another type is lost alone.
type wireInventory struct {
	Inventory struct {
		Hostname   lenient.String `json:"hostname"`
		BMCAddress lenient.String `json:"bmc_address"`
		Boot       struct {
			Mode lenient.String `json:"current_boot_mode"`
		} `json:"boot"`
		CPU struct {
			Architecture lenient.String               `json:"architecture"`
			Model        lenient.String               `json:"model_name"`
			Count        lenient.Int                  `json:"count"`
			Frequency    lenient.Float                `json:"frequency"` // text, number or null
			Flags        lenient.List[lenient.String] `json:"flags"`
		} `json:"cpu"`
		Memory struct {
			PhysicalMB lenient.Int `json:"physical_mb"`
		} `json:"memory"`
		System struct {
			Manufacturer lenient.String `json:"manufacturer"`
			Product      lenient.String `json:"product_name"`
			Serial       lenient.String `json:"serial_number"`
			Firmware     struct {
				Vendor  lenient.String `json:"vendor"`
				Version lenient.String `json:"version"`
				Date    lenient.String `json:"build_date"`
			} `json:"firmware"`
		} `json:"system_vendor"`
		Disks      lenient.List[wireDisk] `json:"disks"`
		Interfaces lenient.List[wireNIC]  `json:"interfaces"`
	} `json:"inventory"`
	Plugin struct {
		AllInterfaces lenient.Map[struct {
			PXE lenient.Bool `json:"pxe_enabled"`
		}] `json:"all_interfaces"`
		ParsedLLDP lenient.Map[map[string]any] `json:"parsed_lldp"`
	} `json:"plugin_data"`
}

type wireDisk struct {
	Name               lenient.String `json:"name"`
	ByPath             lenient.String `json:"by_path"`
	Model              lenient.String `json:"model"`
	Vendor             lenient.String `json:"vendor"`
	Serial             lenient.String `json:"serial"`
	HCTL               lenient.String `json:"hctl"`
	WWN                lenient.String `json:"wwn"`
	WWNVendorExtension lenient.String `json:"wwn_vendor_extension"`
	WWNWithExtension   lenient.String `json:"wwn_with_extension"`
	SizeBytes          lenient.Int    `json:"size"`
	Rotational         lenient.Bool   `json:"rotational"`
}

type wireNIC struct {
	Name       lenient.String `json:"name"`
	MAC        lenient.String `json:"mac_address"`
	IPv4       lenient.String `json:"ipv4_address"`
	IPv6       lenient.String `json:"ipv6_address"`
	Vendor     lenient.String `json:"vendor"`
	Product    lenient.String `json:"product"`
	PCIAddress lenient.String `json:"pci_address"`
	SpeedMbps  lenient.Int    `json:"speed_mbps"`
	Carrier    lenient.Bool   `json:"has_carrier"`
}

func (w *wireInventory) inventory() *Inventory {
	i := w.Inventory
	inv := &Inventory{
		Hostname: string(i.Hostname), BMCAddress: string(i.BMCAddress), BootMode: string(i.Boot.Mode), MemoryMiB: int(i.Memory.PhysicalMB),
		System: SystemInfo{
			Manufacturer: string(i.System.Manufacturer), Product: string(i.System.Product), Serial: string(i.System.Serial),
			FirmwareVendor: string(i.System.Firmware.Vendor), FirmwareVersion: string(i.System.Firmware.Version), FirmwareDay: string(i.System.Firmware.Date),
		},
		CPU: CPUInfo{Architecture: string(i.CPU.Architecture), Model: string(i.CPU.Model), Count: int(i.CPU.Count), MHz: float64(i.CPU.Frequency)},
	}
	for _, flag := range i.CPU.Flags {
		inv.CPU.Flags = append(inv.CPU.Flags, string(flag))
	}
	slices.Sort(inv.CPU.Flags)
	for _, d := range i.Disks {
		inv.Disks = append(inv.Disks, d.disk())
	}
	for _, n := range i.Interfaces {
		nic := n.nic()
		nic.PXE, nic.LLDP = bool(w.Plugin.AllInterfaces[nic.Name].PXE), lldp(w.Plugin.ParsedLLDP[nic.Name])
		inv.NICs = append(inv.NICs, nic)
	}
	return inv
}

func (d wireDisk) disk() DiskInfo {
	return DiskInfo{
		Name: string(d.Name), ByPath: string(d.ByPath), Model: string(d.Model), Vendor: string(d.Vendor), Serial: string(d.Serial), HCTL: string(d.HCTL),
		WWN: string(d.WWN), WWNVendorExtension: string(d.WWNVendorExtension), WWNWithExtension: string(d.WWNWithExtension),
		SizeBytes: int64(d.SizeBytes), Rotational: bool(d.Rotational),
	}
}

func (n wireNIC) nic() NICInfo {
	return NICInfo{
		Name: string(n.Name), MAC: strings.ToLower(string(n.MAC)), IPv4: string(n.IPv4), IPv6: string(n.IPv6), Vendor: string(n.Vendor),
		Product: string(n.Product), PCIAddress: string(n.PCIAddress), SpeedMbps: int(n.SpeedMbps), Carrier: bool(n.Carrier),
	}
}

// lldp reads the parsed LLDP data of one interface; numbers come as JSON
// numbers or as texts, depending on the collector.
func lldp(m map[string]any) LLDPInfo {
	text := func(key string) string { s, _ := m[key].(string); return s }
	l := LLDPInfo{
		ChassisID: text("switch_chassis_id"), PortID: text("switch_port_id"), SystemName: text("switch_system_name"),
		UntaggedVLAN: whole(m["switch_port_untagged_vlan_id"]),
	}
	vlans, _ := m["switch_port_vlans"].([]any)
	for _, raw := range vlans {
		v, _ := raw.(map[string]any)
		name, _ := v["name"].(string)
		if id := whole(v["id"]); id != 0 || name != "" {
			l.VLANs = append(l.VLANs, VLANInfo{ID: id, Name: name})
		}
	}
	return l
}

func whole(v any) int {
	if s, ok := v.(string); ok {
		v = json.Number(s)
	}
	f, _ := number(v)
	return int(f)
}
