package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// section is one section of a keyfile, in the order in which keys were set.
type section struct {
	name string
	keys [][2]string
}

func (s *section) set(key string, value any) {
	s.keys = append(s.keys, [2]string{key, fmt.Sprint(value)})
}

// setUnless sets the key unless the number is absent.
func (s *section) setUnless(key string, value, absent int) {
	if value != absent {
		s.set(key, value)
	}
}

// connections is the namespace of the keyfiles' UUIDs, so that they are stable.
var connections = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://ironflow.io/network"))

// keyfile renders the connection of one interface.
func (d document) keyfile(i *iface, holders map[bool]*iface) []byte {
	sections := []*section{i.connection(), i.device(), d.options(i)}
	if i.controller == "" {
		sections = append(sections, d.address(i, false, holders), d.address(i, true, holders))
	} else if i.portType == "bridge" {
		port := &section{name: "bridge-port"}
		port.keys = append(port.keys, i.portOptions...)
		sections = append(sections, port)
	}
	var out strings.Builder
	for _, s := range sections {
		if s == nil || len(s.keys) == 0 {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		out.WriteString("[" + s.name + "]\n")
		for _, kv := range s.keys {
			out.WriteString(kv[0] + "=" + escape(kv[1]) + "\n")
		}
	}
	return []byte(out.String())
}

// escape follows GLib's key files, where a backslash and leading space mean something.
func escape(value string) string {
	value = strings.ReplaceAll(value, `\`, `\\`)
	if strings.HasPrefix(value, " ") {
		value = `\s` + value[1:]
	}
	return value
}

func (i *iface) connection() *section {
	s := &section{name: "connection"}
	id := i.profile
	if id == "" {
		id = i.name
	}
	s.set("id", id)
	s.set("uuid", i.uuid())
	s.set("type", i.kind)
	// One that is found by its address may have any name.
	if i.matchMAC == "" {
		s.set("interface-name", i.name)
	}
	s.set("autoconnect", true)
	s.set("autoconnect-priority", 1)
	if i.controller != "" {
		s.set("master", i.controller)
		s.set("slave-type", i.portType)
	}
	if i.kind == "bond" || i.kind == "bridge" {
		s.set("autoconnect-slaves", 1)
	}
	return s
}

// device holds what every link has; NetworkManager keeps it in the ethernet
// section whatever the type.
func (i *iface) device() *section {
	s := &section{name: "ethernet"}
	if i.matchMAC != "" {
		s.set("mac-address", i.matchMAC)
	}
	if i.setMAC != "" {
		s.set("cloned-mac-address", i.setMAC)
	}
	s.setUnless("mtu", i.mtu, -1)
	return s
}

// options holds what the type has.
func (d document) options(i *iface) *section {
	s := &section{name: i.kind}
	switch i.kind {
	case "vlan":
		s.set("flags", 1)
		s.set("id", i.vlan.id)
		s.set("parent", d.parent(i.vlan.base))
	case "bond":
		s.set("mode", i.bond.mode)
		s.keys = append(s.keys, i.bond.options...)
	case "bridge":
		s.keys = append(s.keys, i.bridge.options...)
	default:
		return nil
	}
	return s
}

// parent names the interface below a VLAN: by name, or by its connection when
// the name is not known beforehand.
func (d document) parent(name string) string {
	if base := d.find(name); base != nil && base.matchMAC != "" {
		return base.uuid().String()
	}
	return name
}

func (i *iface) uuid() uuid.UUID { return uuid.NewSHA1(connections, []byte(i.kind+" "+i.name)) }

// method is NetworkManager's name for how a family is configured.
func (f family) method(six bool) string {
	switch {
	case !f.enabled:
		return "disabled"
	case six && f.dhcp && !f.autoconf:
		return "dhcp"
	case f.auto():
		return "auto"
	case len(f.addresses) > 0:
		return "manual"
	case six:
		return "link-local"
	default:
		return "disabled"
	}
}

// address renders the ipv4 or ipv6 section.
func (d document) address(i *iface, six bool, holders map[bool]*iface) *section {
	f := i.family(six)
	s := &section{name: map[bool]string{false: "ipv4", true: "ipv6"}[six]}
	s.set("method", f.method(six))
	if !f.enabled {
		return s
	}
	if six && f.addrGenMode != "" {
		s.set("addr-gen-mode", f.addrGenMode)
	}
	for n, a := range f.addresses {
		s.set(fmt.Sprintf("address%d", n+1), a)
	}
	if f.auto() {
		f.automatic(s, six)
	}
	if holders[six] == i {
		d.nameServers(s, six, holders)
	}
	d.routesOf(s, i, six)
	d.rulesOf(s, i, six)
	// A network that fails in one family must not take the other down.
	s.set("may-fail", true)
	return s
}

// automatic holds what limits the network's own offers.
func (f family) automatic(s *section, six bool) {
	if !f.autoDNS {
		s.set("ignore-auto-dns", true)
	}
	if !f.autoRoute {
		s.set("ignore-auto-routes", true)
	}
	if !f.autoGateway || !f.autoRoute {
		s.set("never-default", true)
	}
	s.setUnless("route-table", f.tableID, -1)
	s.setUnless("route-metric", f.metric, -1)
	if f.clientID != "" {
		s.set(map[bool]string{false: "dhcp-client-id", true: "dhcp-duid"}[six], f.clientID)
	}
}

func (d document) nameServers(s *section, six bool, holders map[bool]*iface) {
	var servers strings.Builder
	for _, a := range d.dns.servers {
		if a.Is6() == six {
			servers.WriteString(a.String() + ";")
		}
	}
	if servers.Len() > 0 {
		s.set("dns", servers.String())
		s.set("dns-priority", 40)
	}
	// The search list belongs to one family only.
	if len(d.dns.search) > 0 && (!six || holders[false] == nil) {
		s.set("dns-search", strings.Join(d.dns.search, ";")+";")
	}
}

func (d document) routesOf(s *section, i *iface, six bool) {
	n := 0
	for _, r := range d.routes {
		if r.device != i.name || r.destination.Addr().Is6() != six {
			continue
		}
		n++
		via := ""
		if r.via.IsValid() {
			via = r.via.String()
		} else if r.metric >= 0 {
			via = map[bool]string{false: "0.0.0.0", true: "::"}[six]
		}
		value := r.destination.String()
		if via != "" {
			value += "," + via
		}
		if r.metric >= 0 {
			value += fmt.Sprintf(",%d", r.metric)
		}
		s.set(fmt.Sprintf("route%d", n), value)
		if r.table > 0 {
			s.set(fmt.Sprintf("route%d_options", n), fmt.Sprintf("table=%d", r.table))
		}
	}
}

// rulesOf puts a routing rule on the interface that has routes in its table, or
// else on the first interface of the family.
func (d document) rulesOf(s *section, i *iface, six bool) {
	n := 0
	for _, r := range d.rules {
		if r.six() != six || d.ruleHolder(r) != i {
			continue
		}
		n++
		words := []string{fmt.Sprintf("priority %d", r.priority)}
		for _, side := range []struct {
			word string
			p    netip.Prefix
		}{{"from", r.from}, {"to", r.to}} {
			if side.p.IsValid() {
				words = append(words, side.word, ruleSide(side.p))
			}
		}
		if r.table >= 0 {
			words = append(words, fmt.Sprintf("table %d", r.table))
		}
		s.set(fmt.Sprintf("routing-rule%d", n), strings.Join(words, " "))
	}
}

// ruleSide writes a single address without a length, as NetworkManager does.
func ruleSide(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

func (r rule) six() bool {
	if r.from.IsValid() {
		return r.from.Addr().Is6()
	}
	return r.to.Addr().Is6()
}

func (d document) ruleHolder(r rule) *iface {
	for _, rt := range d.routes {
		if rt.table == r.table && rt.destination.Addr().Is6() == r.six() {
			return d.find(rt.device)
		}
	}
	at := slices.IndexFunc(d.interfaces, func(i *iface) bool {
		return i.routes(r.six())
	})
	if at < 0 {
		return nil
	}
	return d.interfaces[at]
}
