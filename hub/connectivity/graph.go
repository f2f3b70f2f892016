package connectivity

import (
	"maps"
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

// Graph holds who reaches whom. It does not change: [Graph.With] and [Graph.Grow]
// make another one, which shares what is the same. So it can be kept from one
// look at a cluster to the next, and a look that comes to nothing leaves no trace.
type Graph struct {
	networks []Network
	hosts    []string
	index    map[string]int
	// reaches and mutual have a row of bits for each network and host; a host
	// reaches itself.
	reaches, mutual [][]hostBits
	// strangers are hosts that reports name and the graph does not have; nil when
	// there are too many to tell.
	strangers map[string]bool
}

// maxStrangers bounds the names of strangers that are kept.
const maxStrangers = 10_000

// New makes a graph of the hosts, by id, in which nobody reaches anybody yet.
func New(networks []Network, hosts []string) *Graph {
	g := &Graph{networks: networks, hosts: slices.Compact(slices.Sorted(slices.Values(hosts))), strangers: map[string]bool{}}
	g.number()
	for range networks {
		g.reaches, g.mutual = append(g.reaches, g.rows()), append(g.mutual, g.rows())
	}
	return g
}

func (g *Graph) number() {
	g.index = make(map[string]int, len(g.hosts))
	for i, id := range g.hosts {
		g.index[id] = i
	}
}

func (g *Graph) rows() []hostBits {
	rows := make([]hostBits, len(g.hosts))
	for i := range rows {
		rows[i] = newBits(len(g.hosts))
		rows[i].set(i)
	}
	return rows
}

// Is reports whether the graph is of these networks.
func (g *Graph) Is(networks []Network) bool { return slices.Equal(g.networks, networks) }

// Has reports whether the graph is of these hosts; ids must be in order.
func (g *Graph) Has(ids []string) bool { return slices.Equal(g.hosts, ids) }

// Grow returns a graph of more hosts, in order, which have not reported yet. It is
// false when the reports that were made have to be looked at again: a host has
// left, or one that came was named before it was here.
func (g *Graph) Grow(ids []string) (*Graph, bool) {
	if g.strangers == nil {
		return nil, false
	}
	out := New(g.networks, ids)
	place := make([]int, len(g.hosts))
	for i, id := range g.hosts {
		at, stays := out.index[id]
		if !stays {
			return nil, false
		}
		place[i] = at
	}
	for _, id := range out.hosts {
		if g.strangers[id] {
			return nil, false
		}
	}
	out.strangers = g.strangers
	for n := range g.networks {
		for from := range g.hosts {
			for to := range g.hosts {
				if g.reaches[n][from].has(to) {
					out.reaches[n][place[from]].set(place[to])
				}
				if g.mutual[n][from].has(to) {
					out.mutual[n][place[from]].set(place[to])
				}
			}
		}
	}
	return out, true
}

// With returns the graph in which the host says this instead of what it said
// before; nil means that it said nothing. It is the same graph when that changes
// nothing. Hosts that the graph does not have are passed over.
func (g *Graph) With(host string, report *wire.ConnectivityReport) *Graph {
	from, ok := g.index[host]
	if !ok {
		return g
	}
	found := make([]hostBits, len(g.networks))
	for n := range found {
		found[n] = newBits(len(g.hosts))
		found[n].set(from)
	}
	var strangers []string
	if report != nil {
		for _, remote := range report.RemoteHosts {
			to, known := g.index[remote.HostID]
			switch {
			case known:
				g.note(found, to, remote)
			case !g.strangers[remote.HostID]:
				strangers = append(strangers, remote.HostID)
			}
		}
	}
	out := g.heardOf(strangers)
	for n, row := range found {
		if slices.Equal(row, out.reaches[n][from]) {
			continue
		}
		if out == g {
			out = g.copy()
		}
		out.replace(n, from, row)
	}
	return out
}

// heardOf returns the graph with more strangers.
func (g *Graph) heardOf(strangers []string) *Graph {
	if len(strangers) == 0 || g.strangers == nil {
		return g
	}
	out := g.copy()
	if out.strangers = maps.Clone(g.strangers); len(g.strangers)+len(strangers) > maxStrangers {
		out.strangers = nil
		return out
	}
	for _, id := range strangers {
		out.strangers[id] = true
	}
	return out
}

// copy returns a graph whose rows are those of this one.
func (g *Graph) copy() *Graph {
	out := *g
	out.reaches, out.mutual = slices.Clone(g.reaches), slices.Clone(g.mutual)
	for n := range g.networks {
		out.reaches[n], out.mutual[n] = slices.Clone(g.reaches[n]), slices.Clone(g.mutual[n])
	}
	return &out
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

// replace stores a row and what follows for both directions. Rows may be another
// graph's, too, so they are not changed but replaced.
func (g *Graph) replace(network, from int, row hostBits) {
	reaches, mutual := g.reaches[network], g.mutual[network]
	reaches[from] = row
	mutual[from] = slices.Clone(mutual[from])
	for to := range g.hosts {
		if both := row.has(to) && reaches[to].has(from); both != mutual[from].has(to) {
			mutual[from].put(to, both)
			if to != from {
				mutual[to] = slices.Clone(mutual[to])
				mutual[to].put(from, both)
			}
		}
	}
}
