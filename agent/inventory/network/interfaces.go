package network

import (
	"net/netip"
	"path"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	netDir   = "/sys/class/net"
	physical = "physical"
	// virtualPart is in the path of every device that no hardware stands behind.
	virtualPart = "/virtual/"
	// noKind is the type of a virtual link to which the kernel gives no kind: the
	// loopback. It is the word of the agents before us.
	noKind = "device"
	noMAC  = "00:00:00:00:00:00"
)

func interfaceOf(m source.Machine, link source.Link, routes []source.Route, bios map[string]string) wire.Interface {
	base := path.Join(netDir, link.Name)
	device := m.Link(base)
	out := wire.Interface{
		Name: link.Name, MACAddress: mac(m, link), MTU: int64(link.MTU), HasCarrier: link.Carrier, SpeedMbps: m.Number(base, "speed"),
		Vendor: m.Line(base, "device/vendor"), Product: m.Line(base, "device/device"), Type: physical,
		Flags: append([]string{}, link.Flags...), Ipv4Addresses: []string{}, Ipv6Addresses: []string{},
	}
	if strings.Contains(device, virtualPart) {
		out.Type = source.First(link.Kind, noKind)
	} else {
		out.Biosdevname = bios[pciFunction(device)]
	}
	for _, p := range link.Addresses {
		switch {
		case p.Addr().IsLinkLocalUnicast():
		case p.Addr().Is4():
			out.Ipv4Addresses = append(out.Ipv4Addresses, p.String())
		default:
			out.Ipv6Addresses = append(out.Ipv6Addresses, widen(p, link.Index, routes).String())
		}
	}
	return out
}

// mac is the link's MAC; for a member of a bond the one that the hardware
// brought, because a bond gives all of its members the same.
func mac(m source.Machine, link source.Link) string {
	current := strings.ToLower(link.MAC)
	if link.Member == "bond" {
		own := source.First(link.PermanentMAC, m.Line(netDir, link.Name, "bonding_slave/perm_hwaddr"))
		if own == "" {
			own, _ = m.Kernel.PermanentMAC(link.Name) // no answer: the current one is all there is
		}
		current = source.First(strings.ToLower(own), current)
	}
	if current == noMAC {
		return ""
	}
	return current
}

// widen gives an address that DHCPv6 leased, a /128, the prefix of the network
// that a router advertised on the same link.
func widen(p netip.Prefix, link int, routes []source.Route) netip.Prefix {
	if p.Bits() != p.Addr().BitLen() {
		return p
	}
	for _, route := range routes {
		if route.Advertised && route.Link == link && route.Destination.Bits() > 0 && route.Destination.Contains(p.Addr()) {
			return netip.PrefixFrom(p.Addr(), route.Destination.Bits())
		}
	}
	return p
}
