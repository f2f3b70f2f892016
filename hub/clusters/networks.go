package clusters

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/usernetwork"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// The networks of a cluster with a release that does not ask for others.
const (
	defaultClusterNetwork  = "10.128.0.0/14"
	defaultHostPrefix      = 23
	defaultServiceNetwork  = "172.30.0.0/16"
	defaultClusterNetwork6 = "fd01::/48"
	defaultHostPrefix6     = 64
	defaultServiceNetwork6 = "fd02::/112"
)

// defaultNetworks fills in what the user of the REST API left open, for each
// address family of the machine networks and virtual addresses; IPv4 when there
// are none. A single node brings its own network.
func defaultNetworks(c *store.Cluster) {
	if isUsers(c.API.Platform) && c.API.UserManagedNetworking == nil {
		c.API.UserManagedNetworking = new(true)
	}
	if c.API.OpenshiftVersion == "" {
		return
	}
	if evaluate.SingleNode(c) && c.API.UserManagedNetworking == nil {
		c.API.UserManagedNetworking = new(true)
	}
	var v4, v6 bool
	note := func(text string) {
		v6 = v6 || strings.Contains(text, ":")
		v4 = v4 || !strings.Contains(text, ":")
	}
	for _, n := range c.API.MachineNetworks {
		note(string(n.CIDR))
	}
	for _, v := range c.API.APIVIPs {
		note(string(v.IP))
	}
	v4 = v4 || !v6
	if len(c.API.ClusterNetworks) == 0 {
		if v4 {
			c.API.ClusterNetworks = append(c.API.ClusterNetworks, wire.ClusterNetwork{CIDR: defaultClusterNetwork, HostPrefix: defaultHostPrefix})
		}
		if v6 {
			c.API.ClusterNetworks = append(c.API.ClusterNetworks, wire.ClusterNetwork{CIDR: defaultClusterNetwork6, HostPrefix: defaultHostPrefix6})
		}
	}
	if len(c.API.ServiceNetworks) == 0 {
		if v4 {
			c.API.ServiceNetworks = append(c.API.ServiceNetworks, wire.ServiceNetwork{CIDR: defaultServiceNetwork})
		}
		if v6 {
			c.API.ServiceNetworks = append(c.API.ServiceNetworks, wire.ServiceNetwork{CIDR: defaultServiceNetwork6})
		}
	}
}

// isUsers tells that the platform manages no network: what is not the user's then is nobody's.
func isUsers(p *wire.Platform) bool {
	return p != nil && usernetwork.Platform(string(p.Type))
}

// isUsersNetwork tells that nobody in the cluster keeps addresses.
func isUsersNetwork(c wire.Cluster) bool {
	return c.UserManagedNetworking != nil && *c.UserManagedNetworking
}

// followPlatform has the platform and whose network it is follow each other, where the user
// names one of them only. A platform that follows is what the hub chooses where nobody asks for one.
func followPlatform(c *wire.Cluster, before wire.Cluster, p wire.V2ClusterUpdateParams) {
	switch {
	case (p.Platform == nil) == (p.UserManagedNetworking == nil):
	case p.Platform == nil && isUsersNetwork(*c) && c.Platform != nil && c.Platform.Type == wire.PlatformTypeBaremetal,
		p.Platform == nil && !isUsersNetwork(*c) && isUsers(c.Platform):
		c.Platform = nil
	case p.Platform == nil:
	case isUsers(c.Platform):
		c.UserManagedNetworking = new(true)
	case isUsers(before.Platform):
		c.UserManagedNetworking = new(false)
	}
}

// leaveAddresses forgets virtual addresses that nobody keeps any more, unless they are asked for all the same,
// which is refused.
func leaveAddresses(c *wire.Cluster, before wire.Cluster, p wire.V2ClusterUpdateParams) {
	if !isUsersNetwork(*c) || isUsersNetwork(before) || c.OpenshiftVersion == "" {
		return
	}
	if p.APIVIPs == nil {
		c.APIVIPs = nil
	}
	if p.IngressVIPs == nil {
		c.IngressVIPs = nil
	}
}

// unverify keeps what hosts found about virtual addresses that stay. Whether an
// address is free is not the client's to say, nor whose it is.
func unverify(c *wire.Cluster, before wire.Cluster) {
	known := map[wire.IP]*wire.VIPVerification{}
	for _, v := range before.APIVIPs {
		known[v.IP] = v.Verification
	}
	for _, v := range before.IngressVIPs {
		known[v.IP] = v.Verification
	}
	// The slices may be shared with the record before the change.
	c.APIVIPs, c.IngressVIPs = slices.Clone(c.APIVIPs), slices.Clone(c.IngressVIPs)
	for i := range c.APIVIPs {
		v := &c.APIVIPs[i]
		v.ClusterID, v.Verification = c.ID, known[v.IP]
	}
	for i := range c.IngressVIPs {
		v := &c.IngressVIPs[i]
		v.ClusterID, v.Verification = c.ID, known[v.IP]
	}
}
