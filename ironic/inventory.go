package ironic

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
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
	var w wireInventory
	err := g.get(ctx, "get inventory", uuid, nodePath(uuid, "inventory"), &w)
	if statusOf(err) == http.StatusNotFound && KindOf(err) != Gone {
		return nil, ErrNoInventory
	}
	if err != nil {
		return nil, err
	}
	return w.inventory(), nil
}

// wireInventory is the JSON of GET inventory.
type wireInventory struct {
	Inventory struct {
		Hostname   string `json:"hostname"`
		BMCAddress string `json:"bmc_address"`
		Boot       struct {
			Mode string `json:"current_boot_mode"`
		} `json:"boot"`
		CPU struct {
			Architecture string   `json:"architecture"`
			Model        string   `json:"model_name"`
			Count        int      `json:"count"`
			Frequency    any      `json:"frequency"` // text, number or null
			Flags        []string `json:"flags"`
		} `json:"cpu"`
		Memory struct {
			PhysicalMB int `json:"physical_mb"`
		} `json:"memory"`
		System struct {
			Manufacturer string `json:"manufacturer"`
			Product      string `json:"product_name"`
			Serial       string `json:"serial_number"`
			Firmware     struct {
				Vendor  string `json:"vendor"`
				Version string `json:"version"`
				Date    string `json:"build_date"`
			} `json:"firmware"`
		} `json:"system_vendor"`
		Disks      []wireDisk `json:"disks"`
		Interfaces []wireNIC  `json:"interfaces"`
	} `json:"inventory"`
	Plugin struct {
		AllInterfaces map[string]struct {
			PXE bool `json:"pxe_enabled"`
		} `json:"all_interfaces"`
		ParsedLLDP map[string]map[string]any `json:"parsed_lldp"`
	} `json:"plugin_data"`
}

type wireDisk struct {
	Name               string `json:"name"`
	ByPath             string `json:"by_path"`
	Model              string `json:"model"`
	Vendor             string `json:"vendor"`
	Serial             string `json:"serial"`
	HCTL               string `json:"hctl"`
	WWN                string `json:"wwn"`
	WWNVendorExtension string `json:"wwn_vendor_extension"`
	WWNWithExtension   string `json:"wwn_with_extension"`
	SizeBytes          int64  `json:"size"`
	Rotational         bool   `json:"rotational"`
}

type wireNIC struct {
	Name       string `json:"name"`
	MAC        string `json:"mac_address"`
	IPv4       string `json:"ipv4_address"`
	IPv6       string `json:"ipv6_address"`
	Vendor     string `json:"vendor"`
	Product    string `json:"product"`
	PCIAddress string `json:"pci_address"`
	SpeedMbps  int    `json:"speed_mbps"`
	Carrier    bool   `json:"has_carrier"`
}

func (w *wireInventory) inventory() *Inventory {
	i := w.Inventory
	mhz, ok := number(i.CPU.Frequency)
	if text, isText := i.CPU.Frequency.(string); isText && !ok {
		mhz, _ = number(json.Number(strings.TrimSpace(text)))
	}
	inv := &Inventory{
		Hostname: i.Hostname, BMCAddress: i.BMCAddress, BootMode: i.Boot.Mode, MemoryMiB: i.Memory.PhysicalMB,
		System: SystemInfo{
			Manufacturer: i.System.Manufacturer, Product: i.System.Product, Serial: i.System.Serial,
			FirmwareVendor: i.System.Firmware.Vendor, FirmwareVersion: i.System.Firmware.Version, FirmwareDay: i.System.Firmware.Date,
		},
		CPU: CPUInfo{Architecture: i.CPU.Architecture, Model: i.CPU.Model, Count: i.CPU.Count, MHz: mhz, Flags: slices.Sorted(slices.Values(i.CPU.Flags))},
	}
	for _, d := range i.Disks {
		inv.Disks = append(inv.Disks, DiskInfo(d))
	}
	for _, n := range i.Interfaces {
		inv.NICs = append(inv.NICs, NICInfo{
			Name: n.Name, MAC: strings.ToLower(n.MAC), IPv4: n.IPv4, IPv6: n.IPv6, Vendor: n.Vendor, Product: n.Product,
			PCIAddress: n.PCIAddress, SpeedMbps: n.SpeedMbps, Carrier: n.Carrier,
			PXE: w.Plugin.AllInterfaces[n.Name].PXE, LLDP: lldp(w.Plugin.ParsedLLDP[n.Name]),
		})
	}
	return inv
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
