package connectivity

import (
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Names of the networks that stand for a whole address family, as clients know them.
const (
	IPv4 = "IPv4"
	IPv6 = "IPv6"
)

// Network is what hosts reach each other in: one subnet by its neighbours (layer
// 2), or an address family over any route (layer 3).
type Network struct {
	// Name is the subnet in CIDR form, [IPv4] or [IPv6].
	Name   string
	subnet netip.Prefix
}

// Subnet is the network of a subnet.
func Subnet(p netip.Prefix) Network {
	p = p.Masked()
	return Network{Name: p.String(), subnet: p}
}

// Families are the networks of both address families.
func Families() []Network { return []Network{{Name: IPv4}, {Name: IPv6}} }

// has tells whether the address lies in the network.
func (n Network) has(a netip.Addr) bool {
	switch n.Name {
	case IPv4:
		return a.Is4()
	case IPv6:
		return a.Is6() && !a.IsLinkLocalUnicast()
	}
	return n.subnet.Contains(a)
}

// Graph holds who reaches whom. It is not safe for concurrent use.
type Graph struct {
	networks []Network
	hosts    []string
	index    map[string]int
	// reaches and mutual have a row of bits for each network and host; a host
	// reaches itself.
	reaches, mutual [][]hostBits
}

// New makes a graph of the hosts, by id, in which nobody reaches anybody yet.
func New(networks []Network, hosts []string) *Graph {
	g := &Graph{networks: networks, hosts: slices.Compact(slices.Sorted(slices.Values(hosts))), index: map[string]int{}}
	for i, id := range g.hosts {
		g.index[id] = i
	}
	for range networks {
		g.reaches, g.mutual = append(g.reaches, g.rows()), append(g.mutual, g.rows())
	}
	return g
}

func (g *Graph) rows() []hostBits {
	rows := make([]hostBits, len(g.hosts))
	for i := range rows {
		rows[i] = newBits(len(g.hosts))
		rows[i].set(i)
	}
	return rows
}

// Report replaces what the host said before; nil means that it said nothing.
// Hosts that the graph does not have are passed over.
func (g *Graph) Report(host string, report *wire.ConnectivityReport) {
	from, ok := g.index[host]
	if !ok {
		return
	}
	found := make([]hostBits, len(g.networks))
	for n := range found {
		found[n] = newBits(len(g.hosts))
		found[n].set(from)
	}
	if report != nil {
		for _, remote := range report.RemoteHosts {
			if to, known := g.index[remote.HostID]; known {
				g.note(found, to, remote)
			}
		}
	}
	for n, row := range found {
		g.replace(n, from, row)
	}
}

// note sets the bit of the remote host in each network that it answers in.
func (g *Graph) note(found []hostBits, to int, remote wire.ConnectivityRemoteHost) {
	each := func(successful bool, address string, layer3 bool) {
		a, err := netip.ParseAddr(address)
		if !successful || err != nil {
			return
		}
		a = a.Unmap()
		for n, network := range g.networks {
			// A subnet counts neighbours only; not every agent looks for those of IPv6.
			whole := !network.subnet.IsValid()
			if network.has(a) && (layer3 == whole || layer3 && a.Is6()) {
				found[n].set(to)
			}
		}
	}
	for _, l2 := range remote.L2Connectivity {
		each(l2.Successful, l2.RemoteIPAddress, false)
	}
	for _, l3 := range remote.L3Connectivity {
		each(l3.Successful, l3.RemoteIPAddress, true)
	}
}

// replace stores a row and what follows for both directions.
func (g *Graph) replace(network, from int, row hostBits) {
	reaches, mutual := g.reaches[network], g.mutual[network]
	reaches[from] = row
	for to := range g.hosts {
		if both := row.has(to) && reaches[to].has(from); both != mutual[from].has(to) {
			mutual[from].put(to, both)
			mutual[to].put(from, both)
		}
	}
}
