package evaluate

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// virtualNICs are interface types whose addresses do not name a machine.
var virtualNICs = []string{"bridge", "veth", "dummy", "tun", "vxlan"}

// MACs are the addresses that name the machine, lower case and sorted.
func MACs(inventory *wire.Inventory) []string {
	var out []string
	for _, nic := range inventory.Interfaces {
		mac := strings.ToLower(nic.MACAddress)
		if mac == "" || mac == "00:00:00:00:00:00" || slices.Contains(virtualNICs, nic.Type) {
			continue
		}
		out = append(out, mac)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
