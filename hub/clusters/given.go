package clusters

import (
	"cmp"

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
	if o.cluster != nil {
		c.ClusterNetworks = []wire.ClusterNetwork{{CIDR: wire.Subnet(*o.cluster), HostPrefix: cmp.Or(o.hostPrefix, defaultHostPrefix)}}
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

func (l lists) apply(c *wire.Cluster) {
	if l.machine != nil {
		c.MachineNetworks = l.machine
	}
	if l.cluster != nil {
		c.ClusterNetworks = l.cluster
	}
	if l.service != nil {
		c.ServiceNetworks = l.service
	}
}
