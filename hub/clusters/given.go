package clusters

import (
	"cmp"
	"slices"

	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// given is what people have written of the cluster. The pull secret is the one that they
// bring, empty for none: the record's own was checked when it came.
func given(c *store.Cluster, pullSecret string) *input.Cluster {
	return &input.Cluster{Cluster: c.API, PullSecret: pullSecret}
}

// changedEncryption keeps what a change does not name: whoever encrypts other roles has said nothing of
// the servers. Whoever names another mode has.
func changedEncryption(had, given *wire.DiskEncryption) *wire.DiskEncryption {
	out := *given
	if had == nil {
		return &out
	}
	out.EnableOn, out.Mode = cmp.Or(given.EnableOn, had.EnableOn), cmp.Or(given.Mode, had.Mode)
	if wire.Value(out.Mode) == wire.Value(had.Mode) {
		out.TangServers = cmp.Or(given.TangServers, had.TangServers)
	}
	return &out
}

// changedEndpoint keeps what a change does not name, such as the authority beside another address. One
// without an address is none.
func changedEndpoint(had, given *wire.IgnitionEndpoint) *wire.IgnitionEndpoint {
	out := *given
	if had != nil {
		out.URL, out.CaCertificate = cmp.Or(given.URL, had.URL), cmp.Or(given.CaCertificate, had.CaCertificate)
	}
	if wire.Value(out.URL) == "" && wire.Value(out.CaCertificate) == "" {
		return nil
	}
	return &out
}

// oldNetworks are the networks of clients that still give one of each kind. The lists
// come later, so that they win.
type oldNetworks struct {
	machine, cluster, service *string
	hostPrefix                int64
}

func (o oldNetworks) apply(c *wire.Cluster) {
	if o.machine != nil {
		c.MachineNetworks = []wire.MachineNetwork{{CIDR: wire.Subnet(*o.machine)}}
	}
	switch {
	case o.cluster != nil:
		c.ClusterNetworks = []wire.ClusterNetwork{{CIDR: wire.Subnet(*o.cluster), HostPrefix: cmp.Or(o.hostPrefix, defaultHostPrefix)}}
	case o.hostPrefix != 0 && len(c.ClusterNetworks) > 0:
		c.ClusterNetworks = slices.Clone(c.ClusterNetworks) // it may be shared with the record before the change
		c.ClusterNetworks[0].HostPrefix = o.hostPrefix
	case o.hostPrefix != 0:
		c.ClusterNetworks = []wire.ClusterNetwork{{CIDR: defaultClusterNetwork, HostPrefix: o.hostPrefix}}
	}
	if o.service != nil {
		c.ServiceNetworks = []wire.ServiceNetwork{{CIDR: wire.Subnet(*o.service)}}
	}
}

// lists are the networks that a client gives; nil leaves what was there.
type lists struct {
	machine []wire.MachineNetwork
	cluster []wire.ClusterNetwork
	service []wire.ServiceNetwork
}

// apply takes them for the user's own: a cluster's id beside a machine network says that the hub has found it, which is
// not the client's to say, whatever it has read before.
func (l lists) apply(c *wire.Cluster) {
	if l.machine != nil {
		c.MachineNetworks = slices.Clone(l.machine)
		for i := range c.MachineNetworks {
			c.MachineNetworks[i].ClusterID = ""
		}
	}
	if l.cluster != nil {
		c.ClusterNetworks = slices.Clone(l.cluster)
		for i := range c.ClusterNetworks {
			c.ClusterNetworks[i].ClusterID = ""
		}
	}
	if l.service != nil {
		c.ServiceNetworks = slices.Clone(l.service)
		for i := range c.ServiceNetworks {
			c.ServiceNetworks[i].ClusterID = ""
		}
	}
}

// named is a text that was given, or nil for an empty one, which leaves the choice to the hub.
func named(text *string) *string { return orNil(wire.Value(text)) }

// balancer is the same of a load balancer without a type.
func balancer(given *wire.LoadBalancer) *wire.LoadBalancer {
	if given == nil || given.Type == "" {
		return nil
	}
	return given
}
