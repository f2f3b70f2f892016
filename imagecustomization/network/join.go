package network

import (
	"net/netip"
	"slices"
)

// members of a controller: a bond, bridge or VRF. One that is to be gone has none.
func (i *iface) members() []port {
	if i.gone() {
		return nil
	}
	return slices.Concat(i.bond.ports, i.bridge.ports, i.vrf.ports)
}

// gone tells that there is to be no such interface, as there is none on a machine that has
// just started.
func (i *iface) gone() bool { return !i.up && !i.down }

// below are the names of what the interface lies on.
func (i *iface) below() []string {
	var names []string
	for _, p := range i.members() {
		names = append(names, p.name)
	}
	if i.vlan.base != "" && !i.gone() {
		names = append(names, i.vlan.base)
	}
	return names
}

// allPorts are the names of everything that the document puts upon something else,
// or below it.
func (d *document) allPorts() []string {
	var names []string
	for _, i := range d.interfaces {
		names = append(names, i.below()...)
	}
	return names
}

// join tells ports of their controller and checks what they may have.
func (d *document) join(r *reader) {
	seen, owners := map[string]bool{}, map[string]string{}
	for _, i := range d.interfaces {
		if seen[i.name] {
			r.refuse(i.path, "interface %s appears twice", i.name)
		}
		seen[i.name] = true
		if i.matchMAC == "" || i.gone() {
			continue
		}
		if owner := owners[i.matchMAC]; owner != "" {
			r.refuse(i.path+"."+d.words().address, "is that of %s, too", owner)
		}
		owners[i.matchMAC] = i.name
	}
	for _, i := range slices.Clone(d.interfaces) {
		for _, p := range i.members() {
			d.port(r, i, p)
		}
		if i.bond.primary != "" {
			d.needsName(i.bond.primary)
		}
		d.checkBase(r, i)
	}
	d.checkLoops(r)
}

// words are those that the document has for its members, for messages.
func (d *document) words() struct{ address, base, list string } {
	if d.declared {
		return struct{ address, base, list string }{"ethernet_mac_address", "vlan_link", "links"}
	}
	return struct{ address, base, list string }{"mac-address", "vlan.base-iface", "interfaces"}
}

// checkBase checks what a VLAN lies on.
func (d *document) checkBase(r *reader, i *iface) {
	if i.kind != "vlan" || i.gone() {
		return
	}
	path, base := i.path+"."+d.words().base, d.find(i.vlan.base)
	switch {
	case i.vlan.base == i.name:
		r.refuse(path, "is the interface itself")
	case base == nil && d.declared:
		r.refuse(path, "%s is not among the %s", i.vlan.base, d.words().list)
	case base == nil && i.vlan.base != "" && !isIfName(i.vlan.base):
		r.refuse(path, badName, i.vlan.base)
	case base == nil:
	case !base.up:
		r.refuse(base.path+".state", "VLAN %s lies on %s, which is not to be up", i.name, base.name)
	case base.mtu != absent && i.mtu > base.mtu:
		r.refuse(i.path+".mtu", "is more than the %d of %s below it", base.mtu, base.name)
	}
}

// checkLoops refuses interfaces that lie on themselves, by way of others.
func (d *document) checkLoops(r *reader) {
	const walking, done = 1, 2
	state := map[string]int{}
	var walk func(i *iface)
	walk = func(i *iface) {
		state[i.name] = walking
		for _, name := range i.below() {
			next := d.find(name)
			switch {
			case next == nil || next == i:
			case state[name] == walking:
				r.refuse(next.path, "%s is below itself", name)
			case state[name] == 0:
				walk(next)
			}
		}
		state[i.name] = done
	}
	for _, i := range d.interfaces {
		if state[i.name] == 0 {
			walk(i)
		}
	}
}

func (d *document) port(r *reader, controller *iface, of port) {
	p := d.find(of.name)
	if p == nil && !d.declared && isIfName(of.name) {
		// What is in no list is a card with nothing of its own, as for nmstatectl.
		p = undeclared(of)
		d.add(p)
	}
	switch {
	case p == nil:
		r.refuse(of.path, "port %s is not among the %s; add it with its type", of.name, d.words().list)
	case p == controller:
		r.refuse(controller.path, "%s is a port of itself", of.name)
	case p.controller != "":
		r.refuse(p.path, "%s is a port of both %s and %s", of.name, p.controller, controller.name)
	case !p.up && controller.up:
		r.refuse(p.path+".state", "%s is a port of %s, which needs it up", of.name, controller.name)
	case controller.kind != "vrf" && p.ip4.enabled:
		r.refuse(p.ip4.path, "%s is a port of %s and cannot have addresses of its own", of.name, controller.name)
	case controller.kind != "vrf" && p.ip6.enabled:
		r.refuse(p.ip6.path, "%s is a port of %s and cannot have addresses of its own", of.name, controller.name)
	default:
		p.controller, p.portType, p.portOptions = controller.name, controller.kind, of.options
		p.held = controller.down
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
// true for IPv6): the one with the default route, else the first that has them for sure, as
// nmstate takes it, else the first that can.
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
		for _, sure := range []bool{true, false} {
			for _, i := range d.interfaces {
				if holders[six] == nil && i.resolves(six) && (!sure || i.family(six).keepsDNS()) {
					holders[six] = i
				}
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

// keepsDNS tells whether the family's name servers are those that are written: the addresses
// are, too, or those that come with them are not wanted.
func (f family) keepsDNS() bool { return !f.auto() || !f.autoDNS }

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
