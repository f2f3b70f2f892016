package network

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// kinds maps nmstate's interface types to NetworkManager's connection types.
var kinds = map[string]string{
	"ethernet": "ethernet", "vlan": "vlan", "bond": "bond", "linux-bridge": "bridge",
}

// bondModes are all modes, by name and by the kernel's number.
var bondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

var (
	macAddress = regexp.MustCompile(`^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$`)
	// ifName follows the kernel: up to 15 bytes, no slash, no space, no colon.
	ifName = regexp.MustCompile(`^[^\s/:]{1,15}$`)
)

// parse reads a document; all that is wrong is collected in r.
func parse(r *reader, raw []byte) document {
	var top any
	if err := yaml.Unmarshal(raw, &top); err != nil {
		r.refuse("document", "not valid YAML: %v", err)
		return document{}
	}
	o := r.newObject("", top)
	var d document
	for _, i := range o.objects("interfaces") {
		d.interfaces = append(d.interfaces, parseInterface(i))
	}
	resolver := o.child("dns-resolver")
	d.dns = parseDNS(resolver.child("config"))
	resolver.done()
	routes := o.child("routes")
	for _, c := range routes.objects("config") {
		d.routes = append(d.routes, parseRoute(c))
	}
	routes.done()
	rules := o.child("route-rules")
	for _, c := range rules.objects("config") {
		d.rules = append(d.rules, parseRule(c))
	}
	rules.done()
	o.done()
	return d
}

func parseInterface(o *object) *iface {
	i := &iface{path: o.path, name: o.text("name"), profile: o.text("profile-name")}
	o.text("description")
	if !ifName.MatchString(i.name) {
		o.refuse(o.at("name"), "%q is not an interface name (at most 15 characters)", i.name)
	}
	kind := o.text("type")
	if kind == "" {
		kind = "ethernet"
	}
	o.only("type", kind, "ethernet", "vlan", "bond", "linux-bridge")
	i.kind = kinds[kind]
	state := o.text("state")
	o.only("state", state, "up", "down", "absent")
	i.up = state == "" || state == "up"
	parseMAC(o, i)
	i.mtu = o.number("mtu", 68, 65535)
	i.ip4 = parseFamily(o.child("ipv4"), false)
	i.ip6 = parseFamily(o.child("ipv6"), true)
	switch i.kind {
	case "vlan":
		i.vlan = parseVLAN(o.child("vlan"))
	case "bond":
		i.bond = parseBond(o.child("link-aggregation"))
	case "bridge":
		i.bridge = parseBridge(o.child("bridge"))
	}
	o.done()
	return i
}

// parseMAC tells the two meanings of mac-address apart.
func parseMAC(o *object, i *iface) {
	mac, identifier := strings.ToUpper(o.text("mac-address")), o.text("identifier")
	o.only("identifier", identifier, "name", "mac-address")
	if mac != "" && !macAddress.MatchString(mac) {
		o.refuse(o.at("mac-address"), "%q is not a MAC address", mac)
	}
	switch {
	case identifier != "mac-address":
		i.setMAC = mac
	case mac == "":
		o.refuse(o.at("identifier"), "mac-address is missing")
	case i.kind != "ethernet":
		o.refuse(o.at("identifier"), "only ethernet interfaces are found by their MAC address")
	default:
		i.matchMAC = mac
	}
}

func parseFamily(o *object, six bool) family {
	f := family{
		path: o.path, enabled: o.flag("enabled", false), dhcp: o.flag("dhcp", false),
		autoDNS: o.flag("auto-dns", true), autoRoute: o.flag("auto-routes", true), autoGateway: o.flag("auto-gateway", true),
		tableID: o.number("auto-route-table-id", 0, 1<<31-1), metric: o.number("auto-route-metric", 0, 1<<31-1),
	}
	bits := 32
	if six {
		bits = 128
		f.autoconf, f.addrGenMode = o.flag("autoconf", false), o.text("addr-gen-mode")
		f.clientID = duid(o)
		o.only("addr-gen-mode", f.addrGenMode, "eui64", "stable-privacy")
	} else {
		f.clientID = clientID(o.text("dhcp-client-id"))
	}
	for _, a := range o.objects("address") {
		ip, length := a.text("ip"), a.number("prefix-length", 0, bits)
		addr, err := netip.ParseAddr(ip)
		if err != nil || addr.Is6() != six || addr.Zone() != "" {
			a.refuse(a.at("ip"), "%q is not an address of this family", ip)
		} else if length < 0 {
			a.refuse(a.at("prefix-length"), "is missing")
		} else {
			f.addresses = append(f.addresses, netip.PrefixFrom(addr, length))
		}
		a.done()
	}
	if !f.enabled && (f.auto() || len(f.addresses) > 0) {
		o.refuse(o.at("enabled"), "must be true for addresses, dhcp or autoconf to count")
	}
	o.done()
	return f
}

func parseVLAN(o *object) vlan {
	v := vlan{base: o.text("base-iface"), id: o.number("id", 1, 4094)}
	if v.base == "" {
		o.refuse(o.at("base-iface"), "is missing")
	}
	if v.id < 0 {
		o.refuse(o.at("id"), "is missing")
	}
	protocol := o.text("protocol")
	o.only("protocol", protocol, "802.1q")
	o.done()
	return v
}

func parseBond(o *object) bond {
	b := bond{mode: o.text("mode"), ports: o.strings("port")}
	b.ports = append(b.ports, o.strings("slaves")...)
	if len(b.mode) == 1 && b.mode[0] >= '0' && b.mode[0] <= '6' {
		b.mode = bondModes[b.mode[0]-'0']
	}
	if b.mode == "" {
		o.refuse(o.at("mode"), "is missing")
	}
	o.only("mode", b.mode, bondModes...)
	options := o.child("options")
	b.takeOptions(options, "")
	options.done()
	o.done()
	return b
}

func parseBridge(o *object) bridge {
	var b bridge
	options := o.child("options")
	stp := options.child("stp")
	b.options = append(b.options, [2]string{"stp", fmt.Sprint(stp.flag("enabled", true))})
	for _, n := range []struct {
		from      *object
		name, key string
		low, high int
	}{
		{stp, "forward-delay", "forward-delay", 2, 30},
		{stp, "hello-time", "hello-time", 1, 10},
		{stp, "max-age", "max-age", 6, 40},
		{stp, "priority", "priority", 0, 65535},
		{options, "mac-ageing-time", "ageing-time", 0, 1000000},
		{options, "group-forward-mask", "group-forward-mask", 0, 65535},
	} {
		if v := n.from.number(n.name, n.low, n.high); v >= 0 {
			b.options = append(b.options, [2]string{n.key, fmt.Sprint(v)})
		}
	}
	stp.done()
	options.done()
	for _, p := range o.objects("port") {
		port := bridgePort{name: p.text("name")}
		if p.flag("stp-hairpin-mode", false) {
			port.options = append(port.options, [2]string{"hairpin-mode", "true"})
		}
		if v := p.number("stp-path-cost", 0, 65535); v >= 0 {
			port.options = append(port.options, [2]string{"path-cost", fmt.Sprint(v)})
		}
		if v := p.number("stp-priority", 0, 63); v >= 0 {
			port.options = append(port.options, [2]string{"priority", fmt.Sprint(v)})
		}
		p.done()
		b.ports = append(b.ports, port)
	}
	o.done()
	return b
}

func parseDNS(o *object) dns {
	d := dns{path: o.path, search: o.strings("search")}
	for i, s := range o.strings("server") {
		addr, err := netip.ParseAddr(s)
		if err != nil {
			o.refuse(fmt.Sprintf("%s.server[%d]", o.path, i), "%q is not an address", s)
			continue
		}
		d.servers = append(d.servers, addr)
	}
	o.done()
	return d
}

func parseRoute(o *object) route {
	r := route{path: o.path, device: o.text("next-hop-interface"), metric: o.number("metric", 0, 1<<31-1), table: o.number("table-id", 0, 1<<31-1)}
	state := o.text("state")
	o.only("state", state, "present")
	var err error
	destination := o.text("destination")
	if r.destination, err = netip.ParsePrefix(destination); err != nil {
		o.refuse(o.at("destination"), "%q is not a network like 192.0.2.0/24", destination)
	}
	if via := o.text("next-hop-address"); via != "" {
		if r.via, err = netip.ParseAddr(via); err != nil || r.destination.IsValid() && r.via.Is6() != r.destination.Addr().Is6() {
			o.refuse(o.at("next-hop-address"), "%q is not an address of the destination's family", via)
		}
	}
	if r.device == "" {
		o.refuse(o.at("next-hop-interface"), "is missing")
	}
	o.done()
	return r
}

func parseRule(o *object) rule {
	r := rule{path: o.path, priority: o.number("priority", 0, 1<<31-1), table: o.number("route-table", 0, 1<<31-1)}
	for _, side := range []struct {
		key string
		to  *netip.Prefix
	}{{"ip-from", &r.from}, {"ip-to", &r.to}} {
		text := o.text(side.key)
		if text == "" {
			continue
		}
		p, err := parseNetwork(text)
		if err != nil {
			o.refuse(o.at(side.key), "%q is not a network or address", text)
		}
		*side.to = p
	}
	switch {
	case !r.from.IsValid() && !r.to.IsValid():
		o.refuse(o.path, "needs ip-from or ip-to")
	case r.from.IsValid() && r.to.IsValid() && r.from.Addr().Is6() != r.to.Addr().Is6():
		o.refuse(o.path, "ip-from and ip-to are of different families")
	}
	if r.priority < 0 {
		o.refuse(o.at("priority"), "is missing")
	}
	o.done()
	return r
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
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}

// find returns the interface with that name, or nil.
func (d document) find(name string) *iface {
	i := slices.IndexFunc(d.interfaces, func(i *iface) bool { return i.name == name })
	if i < 0 {
		return nil
	}
	return d.interfaces[i]
}
