package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Keys of a Secret that hold OpenStack's network_data.json.
var networkDataKeys = []string{"networkData", "network_data.json"}

// physical are the link types of network_data.json that stand for a network card.
var physical = []string{"phy", "ethernet", "vif", "tap", "ovs", "bridge", "hw_veb", "hyperv", "vhostuser", "dvs", "other", "macvtap", "hostdev_physical"}

// networkTypes are the network types of network_data.json, with how their family
// is configured. A host of ipv6_dhcp listens to routers, as cloud-init has it: what they
// announce is not known, and nobody else tells it its gateway. The types and fields are those of OpenStack's JSON schema of
// network_data.
var networkTypes = map[string]struct{ six, dhcp, autoconf bool }{
	"ipv4": {}, "ipv4_dhcp": {dhcp: true},
	"ipv6": {six: true}, "ipv6_dhcp": {six: true, dhcp: true, autoconf: true}, "ipv6_slaac": {six: true, autoconf: true},
	"ipv6_dhcpv6-stateful": {six: true, dhcp: true}, "ipv6_dhcpv6-stateless": {six: true, dhcp: true, autoconf: true},
}

// FromNetworkData translates OpenStack's network_data.json for somebody who can
// hand over nothing but keyfiles: what needs more is refused.
func FromNetworkData(raw []byte) (map[string][]byte, error) {
	s, err := TranslateNetworkData(raw)
	if err != nil {
		return nil, err
	}
	return s.OnlyKeyfiles()
}

// TranslateNetworkData translates OpenStack's network_data.json (links, networks,
// services; JSON or YAML). The ids of links are handles of any length: cards are
// found by their MAC address, and what has to have a name gets one. Errors wrap
// [ErrUnsupported] and name every field at fault.
func TranslateNetworkData(raw []byte) (Settings, error) {
	r := &reader{}
	top, err := decode(raw)
	if err != nil {
		r.refuse("document", "%v", err)
		return Settings{}, r.err()
	}
	o := r.newObject("", top)
	d := &document{declared: true}
	for _, l := range o.objects("links") {
		d.add(parseLink(l))
	}
	d.dns.path = "services"
	for _, n := range o.objects("networks") {
		d.network(n)
	}
	d.services(o)
	o.done()
	if err := r.err(); err != nil {
		return Settings{}, err
	}
	return d.settings(r)
}

// parseLink reads a link: a card, a bond or a VLAN.
func parseLink(o *object) *iface {
	i := &iface{path: o.path, name: o.name("id"), up: true, kind: "ethernet", lldp: absent}
	if name := o.text("name"); name != "" {
		i.profile = name
	}
	o.text("vif_id") // the port's id in OpenStack, which no host needs
	mac := o.station("ethernet_mac_address")
	i.mtu = o.number("mtu", 68, 65535)
	switch kind := o.text("type"); {
	case kind == "bond":
		i.kind, i.setMAC, i.bond = "bond", mac, parseBondLink(o)
	case kind == "vlan":
		i.kind, i.setMAC, i.vlan = "vlan", mac, parseVLANLink(o, i)
	case slices.Contains(physical, kind):
		i.matchMAC = mac
	default:
		o.refuse(o.at("type"), "%q is not supported, there are bond, vlan, %s", kind, strings.Join(physical, ", "))
	}
	i.nameLink(o)
	o.done()
	return i
}

// nameLink finds a name for what the id of the link is none of: a card that is found
// by its address needs none, a bond or VLAN gets one that is made of its id.
func (i *iface) nameLink(o *object) {
	switch {
	case !isAnyName(i.name):
		o.refuse(o.at("id"), "%q is not a name: want up to 200 bytes, without spaces, slashes, colons and percent signs, and no dot in front", i.name)
	case isIfName(i.name) || i.matchMAC != "":
	case i.kind == "ethernet":
		o.refuse(o.at("id"), "%q is not an interface name (at most 15 characters), and no ethernet_mac_address tells which card it is", i.name)
	default:
		i.device = i.kind + "-" + i.uuid().String()[:8]
	}
}

// parseBondLink reads what a bond has; its options are the kernel's, written bond_NAME.
func parseBondLink(o *object) bond {
	b := bond{mode: bondMode(o.text("bond_mode")), ports: o.ports("bond_links")}
	if b.mode == "" {
		o.refuse(o.at("bond_mode"), "is missing")
	}
	o.only("bond_mode", b.mode, bondModes...)
	b.takeOptions(o, "bond_")
	return b
}

func parseVLANLink(o *object, i *iface) vlan {
	v := vlan{base: o.name("vlan_link"), id: o.number("vlan_id", 1, 4094), flags: vlanReorder}
	if v.base == "" {
		o.refuse(o.at("vlan_link"), "is missing")
	}
	if v.id < 0 {
		o.refuse(o.at("vlan_id"), "is missing")
	}
	if mac := o.station("vlan_mac_address"); mac != "" {
		i.setMAC = mac
	}
	return v
}

// network reads one network and adds it to its link.
func (d *document) network(o *object) {
	for _, openstack := range []string{"id", "network_id"} {
		o.text(openstack) // names within OpenStack
	}
	link := o.text("link")
	i := d.find(link)
	if i == nil {
		o.refuse(o.at("link"), "%q is not among the links", link)
		i = &iface{}
	}
	kind := o.text("type")
	t, known := networkTypes[kind]
	if !known {
		o.refuse(o.at("type"), "%q is not supported, there are ipv4, ipv4_dhcp, ipv6, ipv6_dhcp, ipv6_slaac, ipv6_dhcpv6-stateful, ipv6_dhcpv6-stateless", kind)
	}
	f := &i.ip4
	if t.six {
		f = &i.ip6
	}
	if !f.enabled {
		*f = family{path: o.path, autoDNS: true, autoRoute: true, autoGateway: true, tableID: absent, metric: absent}
	}
	f.enabled, f.dhcp, f.autoconf = true, f.dhcp || t.dhcp, f.autoconf || t.autoconf
	d.staticAddress(o, f, t.six, known && !t.dhcp && !t.autoconf)
	if gateway := o.text("gateway"); gateway != "" {
		d.gateway(o, o.at("gateway"), gateway, link, t.six)
	}
	for _, r := range o.objects("routes") {
		d.networkRoute(r, link, t.six)
	}
	d.services(o)
	o.done()
}

// staticAddress reads ip_address and netmask, in any of the ways they are written.
func (d *document) staticAddress(o *object, f *family, six, static bool) {
	text := o.text("ip_address")
	if text == "" {
		o.text("netmask")
		if static {
			o.refuse(o.at("ip_address"), "is missing")
		}
		return
	}
	p, ok := o.prefix("ip_address", text, six)
	switch {
	case !ok:
	case !ofHost(p.Addr()):
		o.refuse(o.at("ip_address"), "%q is not an address of the network's type that a host can have", text)
	default:
		f.addresses = append(f.addresses, p)
	}
}

// prefix joins an address, which may have a length like /24, and the member netmask. What
// is wrong it refuses itself.
func (o *object) prefix(key, text string, six bool) (p netip.Prefix, ok bool) {
	mask := o.text("netmask")
	bits := maskBits(mask, six)
	if mask != "" && bits < 0 {
		o.refuse(o.at("netmask"), "%q is not a netmask", mask)
		return p, false
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		switch {
		case err != nil || addr.Is6() != six || addr.Zone() != "":
			o.refuse(o.at(key), "%q is not of the network's type", text)
			return p, false
		case mask == "":
			o.refuse(o.at("netmask"), "is missing, and %s has no length like /24", key)
			return p, false
		}
		return netip.PrefixFrom(addr, bits), true
	}
	switch {
	case p.Addr().Is6() != six:
		o.refuse(o.at(key), "%q is not of the network's type", text)
	case mask != "" && bits != p.Bits():
		o.refuse(o.at("netmask"), "is /%d, and %s says /%d", bits, key, p.Bits())
	default:
		return p, true
	}
	return p, false
}

// maskBits returns the prefix length of a netmask, which is an address or a
// number; -1 when it is neither.
func maskBits(mask string, six bool) int {
	if p, err := netip.ParsePrefix("::/" + strings.TrimPrefix(mask, "/")); err == nil && (six || p.Bits() <= 32) {
		return p.Bits()
	}
	addr, err := netip.ParseAddr(mask)
	if err != nil || addr.Is6() != six {
		return -1
	}
	bits, ended := 0, false
	for _, b := range addr.AsSlice() {
		for bit := 7; bit >= 0; bit-- {
			set := b>>bit&1 == 1
			if set && ended {
				return -1
			}
			if set {
				bits++
			}
			ended = ended || !set
		}
	}
	return bits
}

// networkRoute reads a route of a network.
func (d *document) networkRoute(o *object, link string, six bool) {
	via := o.text("gateway")
	p, _ := o.prefix("network", o.text("network"), six)
	rt := route{path: o.path, destination: p.Masked(), device: link, metric: o.number("metric", 0, 1<<31-1), table: -1}
	if via != "" {
		var err error
		rt.via, err = netip.ParseAddr(via)
		switch {
		case err == nil && rt.via.IsUnspecified() && rt.via.Is6() == six:
			rt.via = netip.Addr{} // OpenStack's word for none
		case err != nil || rt.via.Is6() != six || !ofHost(rt.via):
			o.refuse(o.at("gateway"), "%q is not an address of the network's type, without an interface", via)
		}
	}
	d.services(o)
	o.done()
	d.routes = append(d.routes, rt)
}

// gateway adds the default route of a network.
func (d *document) gateway(o *object, path, text, link string, six bool) {
	via, err := netip.ParseAddr(text)
	if err != nil || via.Is6() != six || !ofHost(via) {
		o.refuse(path, "%q is not an address of the network's type", text)
		return
	}
	d.routes = append(d.routes, route{path: o.path, destination: everywhere(six), via: via, device: link, metric: absent, table: absent})
}

// services reads name servers, of the whole host or of one network.
func (d *document) services(o *object) {
	for _, s := range o.objects("services") {
		kind, address := s.text("type"), s.text("address")
		s.only("type", kind, "dns")
		addr, err := netip.ParseAddr(address)
		if err != nil || addr.Zone() != "" {
			s.refuse(s.at("address"), "%q is not an address, without an interface", address)
		} else if !slices.Contains(d.dns.servers, addr) {
			d.dns.servers = append(d.dns.servers, addr)
		}
		s.done()
	}
	for i, address := range o.strings("dns_nameservers") {
		addr, err := netip.ParseAddr(address)
		if err != nil || addr.Zone() != "" {
			o.refuse(fmt.Sprintf("%s[%d]", o.at("dns_nameservers"), i), "%q is not an address, without an interface", address)
		} else if !slices.Contains(d.dns.servers, addr) {
			d.dns.servers = append(d.dns.servers, addr)
		}
	}
	search := o.strings("dns_search")
	checkSearch(o, search, "dns_search")
	d.dns.search = distinct(append(d.dns.search, search...))
}
