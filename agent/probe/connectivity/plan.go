package connectivity

import (
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/agent/probe/netprobe"
	"github.com/ironflow/ironflow/hub/wire"
)

// standardMTU is what needs no check: every Ethernet carries it.
const standardMTU = 1500

// neighborProbe asks on an own NIC for the owners of a remote address.
type neighborProbe struct {
	nic    string
	remote netip.Addr
}

// mtuProbe sends the largest packet that an own NIC can carry.
type mtuProbe struct {
	nic    string
	mtu    int64
	remote netip.Addr
}

// plan is what is asked: each question once, even if several hosts claim the
// same address.
type plan struct {
	echoes    []netip.Addr
	neighbors []neighborProbe
	// sources are the own addresses that neighbours are asked from.
	sources map[neighborProbe]netip.Addr
	mtus    []mtuProbe
}

// probes counts what is asked.
func (p plan) probes() int { return len(p.echoes) + len(p.neighbors) + len(p.mtus) }

// weight counts probes by their length: an MTU check is two, one after the other.
func (p plan) weight() int { return p.probes() + len(p.mtus) }

// payload is what fills the NIC's largest packet behind the headers of IP and ICMP.
func (p mtuProbe) payload() int {
	if p.remote.Is4() {
		return int(p.mtu) - 28
	}
	return int(p.mtu) - 48
}

// makePlan decides what to ask, host by host.
func makePlan(own []wire.Interface, hosts wire.ConnectivityCheckParams) plan {
	own = usable(own)
	p := plan{sources: map[neighborProbe]netip.Addr{}}
	seen := map[netip.Addr]bool{}
	for _, host := range hosts {
		for _, address := range remotes(host) {
			if seen[address.addr] {
				continue
			}
			seen[address.addr] = true
			p.echoes = append(p.echoes, address.addr)
			for _, nic := range own {
				p.add(nic, address.addr)
			}
		}
	}
	return p
}

// add adds what is asked over one NIC.
func (p *plan) add(nic wire.Interface, remote netip.Addr) {
	addresses := ofFamily(netprobe.OwnAddresses([]wire.Interface{nic}), remote)
	if len(addresses) == 0 {
		return
	}
	if nic.MTU != standardMTU && nic.MTU > 0 {
		p.mtus = append(p.mtus, mtuProbe{nic.Name, nic.MTU, remote})
	}
	// An IPv6 neighbour may be on the link although no prefix says so: addresses
	// from DHCPv6 are /128.
	i := slices.IndexFunc(addresses, func(a netip.Prefix) bool { return a.Contains(remote) })
	if i < 0 && remote.Is4() {
		return
	}
	question := neighborProbe{nic.Name, remote}
	p.neighbors = append(p.neighbors, question)
	p.sources[question] = addresses[max(i, 0)].Addr()
}

func ofFamily(own []netprobe.Own, remote netip.Addr) []netip.Prefix {
	var out []netip.Prefix
	for _, o := range own {
		if o.Address.Addr().Is4() == remote.Is4() {
			out = append(out, o.Address)
		}
	}
	return out
}

// usable keeps the NICs that carry a cluster's traffic.
func usable(own []wire.Interface) []wire.Interface {
	var out []wire.Interface
	for _, nic := range own {
		if slices.Contains([]string{"physical", "bond", "vlan"}, nic.Type) {
			out = append(out, nic)
		}
	}
	return out
}

// remote is an address of another host, and how the hub writes it.
type remote struct {
	addr netip.Addr
	text string
}

// remotes lists a host's addresses, each once.
func remotes(host wire.ConnectivityCheckHost) []remote {
	var out []remote
	seen := map[netip.Addr]bool{}
	for _, nic := range host.Nics {
		for _, text := range nic.IPAddresses {
			addr, err := netip.ParseAddr(text)
			if err != nil {
				continue // refused before
			}
			addr = addr.Unmap()
			if !seen[addr] {
				seen[addr] = true
				out = append(out, remote{addr, text})
			}
		}
	}
	return out
}
