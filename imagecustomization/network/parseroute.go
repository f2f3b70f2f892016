package network

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// nowhere are the routes that lead to no next hop.
var nowhere = []string{"blackhole", "unreachable", "prohibit"}

// routeOptions are those that the kernel has for a route.
var routeOptions = []member{
	{name: "advmss", form: formNumber, low: 1, high: 65535},
	{name: "cwnd", form: formNumber, low: 1, high: maxInt},
	{name: "initcwnd", form: formNumber, low: 1, high: maxInt},
	{name: "initrwnd", form: formNumber, low: 1, high: maxInt},
	{name: "lock-mtu", form: formFlag},
	{name: "mtu", form: formNumber, low: 68, high: 65535},
	{name: "quickack", form: formFlag},
}

// defaultMetrics are what nmstatectl gives a route that has none, by whether it is one of IPv6:
// those of the kernel. NetworkManager's own depend on the type of the interface, so that
// the default route of a bond (300) would come after the one that DHCP gives to a card (100).
var defaultMetrics = map[bool]int{false: 0, true: 1024}

// parseRoute reads a route; present is false for one that is to be gone, as it is
// on a machine that has just started.
func parseRoute(o *object) (rt route, present bool) {
	rt = route{
		path: o.path, device: o.name("next-hop-interface"),
		metric: o.numberOrDefault("metric", -1), table: o.numberOrDefault("table-id", 0),
	}
	state := o.word("state", []string{"present", "absent"}, []string{"ignore"})
	var err error
	destination := o.text("destination")
	if rt.destination, err = netip.ParsePrefix(destination); err != nil && state != "absent" {
		o.refuse(o.at("destination"), "%q is not a network like 192.0.2.0/24", destination)
	}
	rt.destination = rt.destination.Masked()
	if rt.metric == absent {
		rt.metric = defaultMetrics[rt.destination.Addr().Is6()]
	}
	if via := o.text("next-hop-address"); via != "" {
		rt.via, err = netip.ParseAddr(via)
		switch {
		case err == nil && rt.via.IsUnspecified():
			rt.via = netip.Addr{} // nmstate's word for none
		case err != nil || !rt.reaches(rt.via):
			o.refuse(o.at("next-hop-address"), "%q is not an address of the destination's family, without an interface", via)
		}
	}
	rt.kind = o.text("route-type")
	o.only("route-type", rt.kind, nowhere...)
	switch {
	case state == "absent":
	case rt.kind != "" && rt.via.IsValid():
		o.refuse(o.at("next-hop-address"), "a route of type %s has no next hop", rt.kind)
	case rt.kind == "" && rt.device == "":
		o.refuse(o.at("next-hop-interface"), "is missing")
	}
	rt.options = o.members(routeOptions)
	if slices.ContainsFunc(rt.options, func(option [2]string) bool { return option[0] == "cwnd" }) {
		rt.options = append(rt.options, [2]string{"lock-cwnd", "true"}) // the kernel ignores one that is not locked
	}
	if source := o.text("source"); source != "" {
		addr, err := netip.ParseAddr(source)
		if err != nil || !rt.reaches(addr) {
			o.refuse(o.at("source"), "%q is not an address of the destination's family, without an interface", source)
		}
		rt.options = append(rt.options, [2]string{"src", addr.String()})
	}
	if weight := o.number("weight", 1, 256); weight != absent {
		switch {
		case rt.destination.Addr().Is6():
			o.refuse(o.at("weight"), "only routes of IPv4 have a weight")
		case rt.kind != "":
			o.refuse(o.at("weight"), "a route of type %s has none: it has no next hop", rt.kind)
		}
		rt.options = append(rt.options, [2]string{"weight", fmt.Sprint(weight)})
	}
	o.done()
	return rt, state != "absent"
}

// reaches tells whether the route can name the address, which is one of a host in the
// destination's family.
func (r route) reaches(a netip.Addr) bool {
	return ofHost(a) && (!r.destination.IsValid() || a.Is6() == r.destination.Addr().Is6())
}

// firstFreePriority is where nmstate begins to count for rules without a priority.
const firstFreePriority = 30000

// parseRule reads a routing rule; present is false for one that is to be gone.
func parseRule(o *object) (rl rule, present bool) {
	rl = rule{path: o.path, priority: o.numberOrDefault("priority", -1), table: o.numberOrDefault("route-table", 0), iif: o.name("iif")}
	for _, side := range []struct {
		key string
		to  *netip.Prefix
	}{{"ip-from", &rl.from}, {"ip-to", &rl.to}} {
		text := o.text(side.key)
		if text == "" {
			continue
		}
		p, err := parseNetwork(text)
		if err != nil {
			o.refuse(o.at(side.key), "%q is not a network or address", text)
		}
		*side.to = p.Masked()
	}
	state, kind := o.text("state"), o.text("family")
	o.only("state", state, "absent")
	o.only("family", kind, "ipv4", "ipv6")
	if state == "absent" {
		o.m = nil // whatever it asks for, there is none
		return rl, false
	}
	parseRuleFamily(o, &rl, kind)
	parseMark(o, &rl)
	rl.action = o.text("action")
	o.only("action", rl.action, nowhere...)
	if rl.iif != "" && !isIfName(rl.iif) {
		o.refuse(o.at("iif"), badName, rl.iif)
	}
	longest := 32
	if rl.six {
		longest = 128
	}
	length := o.number("suppress-prefix-length", 0, longest)
	if length == absent {
		length = o.number("suppress_prefixlength", 0, longest)
	}
	if length != absent {
		rl.words = append(rl.words, fmt.Sprintf("suppress_prefixlength %d", length))
	}
	o.done()
	return rl, true
}

// parseRuleFamily finds out which family a rule is of.
func parseRuleFamily(o *object, rl *rule, kind string) {
	rl.six = kind == "ipv6" || rl.from.IsValid() && rl.from.Addr().Is6() || rl.to.IsValid() && rl.to.Addr().Is6()
	for _, p := range []netip.Prefix{rl.from, rl.to} {
		switch {
		case !p.IsValid() || p.Addr().Is6() == rl.six:
		case kind != "":
			o.refuse(o.at("family"), "is %s, and %s is of the other", kind, p)
		default:
			o.refuse(o.path, "ip-from and ip-to are of different families")
		}
	}
	if kind == "" && !rl.from.IsValid() && !rl.to.IsValid() {
		o.refuse(o.path, "needs ip-from, ip-to or family")
	}
}

// parseMark reads the mark that packets of a rule have.
func parseMark(o *object, rl *rule) {
	mark, mask := o.number("fwmark", 0, maxUint32), o.number("fwmask", 0, maxUint32)
	switch {
	case mark == absent && mask != absent:
		o.refuse(o.at("fwmask"), "needs a fwmark")
	case mask != absent:
		rl.words = append(rl.words, "fwmark "+hexadecimal(mark)+"/"+hexadecimal(mask))
	case mark != absent:
		rl.words = append(rl.words, "fwmark "+hexadecimal(mark))
	}
}

// hexadecimal writes a number as NetworkManager does.
func hexadecimal(n int) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%#x", n)
}

// parseNetwork accepts a network or a single address.
func parseNetwork(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p, nil
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	if addr.Zone() != "" {
		return netip.Prefix{}, errors.New("is on one link only")
	}
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}

// prioritize gives rules without a priority one that is free, in their order.
func (d *document) prioritize() {
	taken := map[int]bool{}
	for _, r := range d.rules {
		taken[r.priority] = true
	}
	next := firstFreePriority
	for i := range d.rules {
		if d.rules[i].priority != absent {
			continue
		}
		for taken[next] {
			next++
		}
		d.rules[i].priority, taken[next] = next, true
	}
}
