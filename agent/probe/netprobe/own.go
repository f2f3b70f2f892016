package netprobe

import (
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/ironflow/ironflow/hub/wire"
)

// Own is an own address on an interface.
type Own struct {
	NIC     string
	Address netip.Prefix
	// Carrier tells whether the interface is plugged in: what is asked on one that
	// is not goes nowhere, and the silence says nothing.
	Carrier bool
}

// OwnAddresses lists the addresses of the interfaces, in their order. Link-local
// addresses are left out, as inventories do.
func OwnAddresses(nics []wire.Interface) []Own {
	var out []Own
	for _, nic := range nics {
		for _, cidr := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			if p, err := netip.ParsePrefix(cidr); err == nil && !p.Addr().IsLinkLocalUnicast() {
				out = append(out, Own{NIC: nic.Name, Address: p, Carrier: nic.HasCarrier})
			}
		}
	}
	return out
}

// Links opens [Neighbors] once for each interface and family. The zero value is
// ready; its methods may be called at the same time.
type Links struct {
	mu   sync.Mutex
	open map[link]*Neighbors
}

type link struct {
	nic string
	ip6 bool
}

// Neighbors returns those of the interface for the family of the address.
func (l *Links) Neighbors(nic string, address netip.Addr) (*Neighbors, error) {
	key := link{nic, address.Is6()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := l.open[key]; ok {
		return n, nil
	}
	device, err := net.InterfaceByName(nic)
	if err != nil {
		return nil, err
	}
	open := OpenARP
	if key.ip6 {
		open = OpenNDP
	}
	n, err := open(device)
	if err != nil {
		return nil, err
	}
	if l.open == nil {
		l.open = map[link]*Neighbors{}
	}
	l.open[key] = n
	return n, nil
}

// Close closes all of them.
func (l *Links) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.open {
		n.Close()
	}
}

// LinkLocal returns the interface's IPv6 link-local address: neighbours answer
// it without a router whatever prefix they are in. Without one it is fallback.
func LinkLocal(nic string, fallback netip.Addr) netip.Addr {
	device, err := net.InterfaceByName(nic)
	if err != nil {
		return fallback
	}
	addresses, err := device.Addrs()
	if err != nil {
		return fallback
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() {
			return p.Addr()
		}
	}
	return fallback
}
