package progress

import (
	"encoding/json"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// macsOf returns the addresses in a host's inventory, lower case.
func macsOf(record *wire.Host) []string {
	var inventory wire.Inventory
	if record.Inventory == "" || json.Unmarshal([]byte(record.Inventory), &inventory) != nil {
		return nil
	}
	var macs []string
	for _, n := range inventory.Interfaces {
		if n.MACAddress != "" {
			macs = append(macs, strings.ToLower(n.MACAddress))
		}
	}
	return macs
}
