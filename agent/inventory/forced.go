package inventory

import (
	"context"
	"net/netip"
	"strings"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/hub/wire"
)

// Forced returns a collector that puts a dry run's forced identity over what
// the others found; it must be the last of the list. Nothing is forced: no
// collector.
func Forced(d dryrun.Settings) []Collector {
	if !d.Enabled || (d.MAC == "" && d.Hostname == "" && d.IPv4 == "") {
		return nil
	}
	return []Collector{{Name: partForced, Collect: func(context.Context) (Apply, error) {
		return func(inv *wire.Inventory) { force(inv, d) }, nil
	}}}
}

// force replaces the host name, and the MAC and address of the first interface
// with an IPv4 address; the other interfaces are dropped with them.
func force(inv *wire.Inventory, d dryrun.Settings) {
	if d.Hostname != "" {
		inv.Hostname = d.Hostname
	}
	if d.MAC == "" && d.IPv4 == "" {
		return
	}
	for _, nic := range inv.Interfaces {
		if len(nic.Ipv4Addresses) == 0 {
			continue
		}
		if d.MAC != "" {
			nic.MACAddress = strings.ToLower(d.MAC)
		}
		if _, err := netip.ParsePrefix(d.IPv4); err == nil {
			nic.Ipv4Addresses = []string{d.IPv4}
		}
		inv.Interfaces = []wire.Interface{nic}
		return
	}
}
