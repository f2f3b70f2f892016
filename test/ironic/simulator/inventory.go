package simulator

import (
	"crypto/sha256"
	"fmt"
)

// localMAC is a locally administered address. It holds five bytes of chance: of
// three, as 52:54:00 leaves, two in a fleet of thousands would be the same.
func localMAC(chance []byte) string {
	return fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", chance[0], chance[1], chance[2], chance[3], chance[4])
}

// plausibleInventory makes up a machine that is always the same for a node: two
// interfaces, the first of which has the node's first port, and two disks.
func plausibleInventory(n Node) map[string]any {
	sum := sha256.Sum256([]byte(n.UUID))
	mac, second := localMAC(sum[0:5]), localMAC(sum[5:10])
	if len(n.Ports) > 0 {
		mac = n.Ports[0]
	}
	nic := func(name, mac, ip string) map[string]any {
		return map[string]any{
			"name": name, "mac_address": mac, "ipv4_address": ip, "ipv6_address": nil, "has_carrier": true,
			"vendor": "0x8086", "product": "0x1572", "speed_mbps": 10000, "pci_address": "0000:19:00.0",
		}
	}
	disk := func(name, hctl string, sizeGiB int) map[string]any {
		return map[string]any{
			"name": name, "model": "MODEL-" + hctl, "size": int64(sizeGiB) << 30, "rotational": false,
			"serial": fmt.Sprintf("S%x", sum[6:10]), "vendor": "ACME", "hctl": hctl, "by_path": "/dev/disk/by-path/pci-" + hctl,
			"wwn": nil, "wwn_with_extension": nil, "wwn_vendor_extension": nil,
		}
	}
	return map[string]any{
		"inventory": map[string]any{
			"hostname": "host-" + n.UUID[:8],
			"boot":     map[string]any{"current_boot_mode": "uefi", "pxe_interface": nil},
			"cpu": map[string]any{
				"architecture": "x86_64", "count": 32, "frequency": "2100.0", "model_name": "Simulated CPU",
				"flags": []any{"vmx", "aes", "sse4_2"},
			},
			"memory":        map[string]any{"physical_mb": 65536, "total": int64(67430334464)},
			"system_vendor": map[string]any{"manufacturer": "ACME", "product_name": "Simulated", "serial_number": fmt.Sprintf("%x", sum[:4]), "firmware": map[string]any{"vendor": "ACME", "version": "1.0", "build_date": "01/01/2025"}},
			"interfaces":    []any{nic("eno1", mac, "192.0.2.10"), nic("eno2", second, "192.0.2.11")},
			"disks":         []any{disk("/dev/sda", "0:0:0:0", 480), disk("/dev/sdb", "0:0:1:0", 960)},
		},
		"plugin_data": map[string]any{
			"all_interfaces": map[string]any{
				"eno1": map[string]any{"mac_address": mac, "pxe_enabled": true},
				"eno2": map[string]any{"mac_address": second, "pxe_enabled": false},
			},
		},
	}
}
