package openshiftinstall

import (
	"encoding/json"
	"net/netip"

	"github.com/ironflow/ironflow/hub/installconfig"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// Config is the install-config.yaml of an order, with the cluster's overrides merged in.
// How a host boots is not part of an order: each is said to boot by UEFI.
func Config(o *sources.Order) ([]byte, error) {
	cluster := o.Cluster
	cluster.Hosts = nil
	for _, h := range o.Hosts {
		one := wire.Host{ID: h.ID, RequestedHostname: h.Name, Role: h.Role, InstallationDiskPath: h.Disk}
		raw, err := json.Marshal(inventory(h, o.Cluster.MachineNetworks))
		if err != nil {
			return nil, err
		}
		one.Inventory = string(raw)
		cluster.Hosts = append(cluster.Hosts, one)
	}
	return installconfig.Render(installconfig.Cluster{
		API: cluster, PullSecret: o.PullSecret, Masters: count(o, wire.HostRoleMaster),
		Arbiters: count(o, wire.HostRoleArbiter), Workers: count(o, wire.HostRoleWorker),
	})
}

// inventory has the host's card in the machine networks, which tells it from others.
func inventory(h sources.Host, networks []wire.MachineNetwork) wire.Inventory {
	card := wire.Interface{MACAddress: h.MAC}
	for _, text := range h.Addresses {
		address, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		prefix := netip.PrefixFrom(address, address.BitLen())
		for _, n := range networks {
			if in, err := netip.ParsePrefix(string(n.CIDR)); err == nil && in.Contains(address) {
				prefix = netip.PrefixFrom(address, in.Bits())
			}
		}
		if address.Is4() {
			card.Ipv4Addresses = append(card.Ipv4Addresses, prefix.String())
		} else {
			card.Ipv6Addresses = append(card.Ipv6Addresses, prefix.String())
		}
	}
	return wire.Inventory{Hostname: h.Name, Interfaces: []wire.Interface{card}}
}
