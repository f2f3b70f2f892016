package network

import (
	"net/netip"
	"slices"
)

// members of a controller: a bond, bridge or VRF.
func (i *iface) members() []port {
	return slices.Concat(i.bond.ports, i.bridge.ports, i.vrf.ports)
}

// allPorts are the names of everything that the document puts upon something else,
// or below it.
func (d *document) allPorts() []string {
	var names []string
	for _, i := range d.interfaces {
		for _, p := range i.members() {
			names = append(names, p.name)
		}
		if i.vlan.base != "" {
			names = append(names, i.vlan.base)
		}
	}
	return names
}

// join tells ports of their controller and checks what they may have.
func (d *document) join(r *reader) {
	seen := map[string]bool{}
	for _, i := range d.interfaces {
		if seen[i.name] {
			r.refuse(i.path, "interface %s appears twice", i.name)
		}
		seen[i.name] = true
		if i.kind == "vlan" && i.vlan.base == i.name {
			r.refuse(i.path+".vlan.base-iface", "is the interface itself")
		}
	}
	for _, i := range slices.Clone(d.interfaces) {
		for _, p := range i.members() {
			d.port(r, i, p)
		}
		if i.bond.primary != "" {
			d.needsName(i.bond.primary)
		}
	}
}

func (d *document) port(r *reader, controller *iface, of port) {
	p := d.find(of.name)
	if p == nil && !d.declared && ifName.MatchString(of.name) {
		// What is in no list is a card with nothing of its own, as for nmstatectl.
		p = undeclared(of)
		d.interfaces = append(d.interfaces, p)
	}
	switch {
	case p == nil:
		r.refuse(controller.path, "port %s is not among the interfaces; add it with its type", of.name)
	case p == controller:
		r.refuse(controller.path, "%s is a port of itself", of.name)
	case p.controller != "":
		r.refuse(p.path, "%s is a port of both %s and %s", of.name, p.controller, controller.name)
	case controller.kind != "vrf" && p.ip4.enabled:
		r.refuse(p.ip4.path, "%s is a port of %s and cannot have addresses of its own", of.name, controller.name)
	case controller.kind != "vrf" && p.ip6.enabled:
		r.refuse(p.ip6.path, "%s is a port of %s and cannot have addresses of its own", of.name, controller.name)
	default:
		p.controller, p.portType, p.portOptions = controller.name, controller.kind, of.options
	}
}

// undeclared is the card of a port that only its controller names.
func undeclared(p port) *iface {
	none := family{path: p.path, autoDNS: true, autoRoute: true, autoGateway: true, tableID: absent, metric: absent}
	return &iface{path: p.path, name: p.name, kind: "ethernet", up: true, mtu: absent, lldp: absent, ip4: none, ip6: none}
}

// copyAddresses gives bonds and bridges the address of one of their ports, where
// that is known beforehand.
func (d *document) copyAddresses(r *reader) {
	for _, i := range d.interfaces {
		if i.copyMAC == "" {
			continue
		}
		p := d.find(i.copyMAC)
		switch {
		case p == nil:
			r.refuse(i.path+".copy-mac-from", "%s is not among the interfaces", i.copyMAC)
		case p.setMAC != "":
			i.setMAC = p.setMAC
		case p.matchMAC != "":
			i.setMAC = p.matchMAC
		default:
			r.leave(i.path+".copy-mac-from", "the address of %s is not known before the machine runs; give it as mac-address", i.copyMAC)
		}
	}
}

// resolvers returns which interface carries the DNS settings of each family (key
// true for IPv6): the one with the default route, else the first that can.
func (d *document) resolvers(r *reader) map[bool]*iface {
	holders := map[bool]*iface{}
	for _, six := range []bool{false, true} {
		if !slices.ContainsFunc(d.dns.servers, func(a netip.Addr) bool { return a.Is6() == six }) {
			continue
		}
		for _, rt := range d.routes {
			device := d.find(rt.device)
			if rt.destination.Bits() == 0 && rt.destination.Addr().Is6() == six && holders[six] == nil && device.resolves(six) {
				holders[six] = device
			}
		}
		for _, i := range d.interfaces {
			if holders[six] == nil && i.resolves(six) {
				holders[six] = i
			}
		}
		if holders[six] == nil {
			r.leave(d.dns.path+".server", "no interface has addresses of the servers' family")
		}
	}
	if len(d.dns.search)+len(d.dns.options) == 0 || len(d.dns.servers) > 0 {
		return holders
	}
	for _, six := range []bool{false, true} {
		for _, i := range d.interfaces {
			if len(holders) == 0 && i.resolves(six) {
				holders[six] = i
			}
		}
	}
	if len(holders) == 0 {
		field := ".search"
		if len(d.dns.search) == 0 {
			field = ".options"
		}
		r.leave(d.dns.path+field, "no interface has addresses; add a server")
	}
	return holders
}

// free tells whether the interface has addresses of its own: a port of a bond or
// bridge has none.
func (i *iface) free() bool { return i.up && (i.controller == "" || i.portType == "vrf") }

// resolves tells whether the interface may carry DNS settings of a family:
// NetworkManager refuses them where there are no addresses, or link-local ones
// only.
func (i *iface) resolves(six bool) bool {
	if i == nil || !i.free() {
		return false
	}
	f := i.family(six)
	return f.enabled && (f.auto() || len(f.addresses) > 0)
}

// routes tells whether routes and rules of a family take effect on the interface.
func (i *iface) routes(six bool) bool {
	return i.free() && i.family(six).method(six) != "disabled"
}

func (i *iface) family(six bool) family {
	if six {
		return i.ip6
	}
	return i.ip4
}

func (d *document) checkRoute(r *reader, rt route) {
	i, six := d.find(rt.device), rt.destination.Addr().Is6()
	switch {
	case rt.device == "":
		if d.routeHolder(rt) == nil {
			r.refuse(rt.path, "no interface has addresses of the destination's family")
		}
	case i == nil:
		r.refuse(rt.path+".next-hop-interface", "%s is not among the interfaces", rt.device)
	case !i.routes(six):
		r.refuse(rt.path+".next-hop-interface", "%s has no addresses of the destination's family", rt.device)
	}
}

// routeHolder returns the interface whose connection has the route: its own, or
// for one that leads nowhere the first with addresses of the family.
func (d *document) routeHolder(rt route) *iface {
	if rt.device != "" {
		return d.find(rt.device)
	}
	return d.firstThatRoutes(rt.destination.Addr().Is6())
}

func (d *document) firstThatRoutes(six bool) *iface {
	at := slices.IndexFunc(d.interfaces, func(i *iface) bool { return i.routes(six) })
	if at < 0 {
		return nil
	}
	return d.interfaces[at]
}
