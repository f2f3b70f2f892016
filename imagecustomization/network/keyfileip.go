package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

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

// byFamily is what a key or value is called for IPv4 and for IPv6.
func byFamily(six bool, four, other string) string {
	if six {
		return other
	}
	return four
}

// address renders the ipv4 or ipv6 section.
func (d *document) address(i *iface, six bool, p plan) *section {
	f := i.family(six)
	s := &section{name: byFamily(six, "ipv4", "ipv6")}
	s.set("method", f.method(six))
	if !f.enabled {
		return s
	}
	if six && f.addrGenMode != "" {
		s.set("addr-gen-mode", f.addrGenMode)
	}
	if f.token != "" {
		if f.addrGenMode == "" {
			s.set("addr-gen-mode", "eui64") // a token counts with this one only
		}
		s.set("token", f.token)
	}
	for n, a := range f.addresses {
		s.set(fmt.Sprintf("address%d", n+1), a)
	}
	if f.auto() {
		f.automatic(s, six)
	}
	if p.resolvers[six] == i {
		d.nameServers(s, six, p.resolvers)
	}
	writeRoutes(s, f.inMain(p.routes[place{i, six}]), six)
	writeRules(s, p.rules[place{i, six}])
	// A network that fails in one family must not take the other down.
	s.set("may-fail", !f.needed)
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
	s.setNumber("route-table", f.tableID)
	s.setNumber("route-metric", f.metric)
	if f.clientID != "" {
		s.set(byFamily(six, "dhcp-client-id", "dhcp-duid"), f.clientID)
	}
	s.keys = append(s.keys, f.hostname...)
}

func (d *document) nameServers(s *section, six bool, holders map[bool]*iface) {
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
	// The search list and the options belong to one family only.
	if six && holders[false] != nil {
		return
	}
	for _, list := range []struct {
		key   string
		words []string
	}{{"dns-search", d.dns.search}, {"dns-options", d.dns.options}} {
		if len(list.words) > 0 {
			s.set(list.key, strings.Join(list.words, ";")+";")
		}
	}
}

// mainTable is the kernel's routing table for what asks for no other one.
const mainTable = 254

// inMain names the main table for routes without one, where NetworkManager would put them
// into that of the routes which come from the network.
func (f family) inMain(routes []route) []route {
	if !f.auto() || f.tableID <= 0 {
		return routes
	}
	routes = slices.Clone(routes)
	for n := range routes {
		if routes[n].table <= 0 {
			routes[n].table = mainTable
		}
	}
	return routes
}

func writeRoutes(s *section, routes []route, six bool) {
	for n, r := range routes {
		n++
		via := ""
		if r.via.IsValid() {
			via = r.via.String()
		} else if r.metric >= 0 {
			via = byFamily(six, "0.0.0.0", "::")
		}
		value := r.destination.String()
		if via != "" {
			value += "," + via
		}
		if r.metric >= 0 {
			value += fmt.Sprintf(",%d", r.metric)
		}
		s.set(fmt.Sprintf("route%d", n), value)
		if options := r.words(); len(options) > 0 {
			s.set(fmt.Sprintf("route%d_options", n), strings.Join(options, ","))
		}
	}
}

// words are the options of a route, in NetworkManager's order.
func (r route) words() (words []string) {
	for _, o := range r.options {
		words = append(words, o[0]+"="+o[1])
	}
	if r.table > 0 {
		words = append(words, fmt.Sprintf("table=%d", r.table))
	}
	if r.kind != "" {
		words = append(words, "type="+r.kind)
	}
	slices.Sort(words)
	return words
}

func writeRules(s *section, rules []rule) {
	for n, r := range rules {
		s.set(fmt.Sprintf("routing-rule%d", n+1), strings.Join(r.all(), " "))
	}
}

// all are the words of a rule. One that no address selects begins with all
// addresses, as NetworkManager wants it.
func (r rule) all() []string {
	words := []string{fmt.Sprintf("priority %d", r.priority)}
	from := r.from
	if !from.IsValid() && !r.to.IsValid() {
		from = everywhere(r.six)
	}
	for _, side := range []struct {
		word string
		p    netip.Prefix
	}{{"from", from}, {"to", r.to}} {
		if side.p.IsValid() {
			words = append(words, side.word, ruleSide(side.p))
		}
	}
	if r.iif != "" {
		words = append(words, "iif "+r.iif)
	}
	words = append(words, r.words...)
	if r.table >= 0 {
		words = append(words, fmt.Sprintf("table %d", r.table))
	}
	if r.action != "" {
		words = append(words, "type "+r.action)
	}
	return words
}

// everywhere is the network of all addresses.
func everywhere(six bool) netip.Prefix {
	if six {
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
}

// ruleSide writes a single address without a length, as NetworkManager does.
func ruleSide(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
