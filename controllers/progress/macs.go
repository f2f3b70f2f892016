package progress

import (
	"encoding/json"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// macsOf returns the addresses in a host's inventory, lower case.
func macsOf(record *wire.Host) map[string]bool {
	var inventory wire.Inventory
	if record.Inventory == "" || json.Unmarshal([]byte(record.Inventory), &inventory) != nil {
		return nil
	}
	macs := map[string]bool{}
	for _, n := range inventory.Interfaces {
		macs[strings.ToLower(n.MACAddress)] = true
	}
	return macs
}
