package evaluate

import (
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// AddressIn is the host's first address in the cluster's machine networks, without
// its length, or the first of all for a cluster without such networks; "" for none.
func AddressIn(c *store.Cluster, inventory *wire.Inventory) string {
	var networks []netip.Prefix
	for _, n := range c.API.MachineNetworks {
		if p, err := netip.ParsePrefix(string(n.CIDR)); err == nil {
			networks = append(networks, p)
		}
	}
	for _, nic := range inventory.Interfaces {
		for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			a, err := netip.ParsePrefix(text)
			if err == nil && (len(networks) == 0 || slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a.Addr()) })) {
				return a.Addr().String()
			}
		}
	}
	return ""
}
