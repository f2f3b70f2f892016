package network

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/ironflow/ironflow/api/yamldoc"
)

// kinds maps nmstate's interface types to NetworkManager's connection types.
var kinds = map[string]string{
	"ethernet": "ethernet", "vlan": "vlan", "bond": "bond", "linux-bridge": "bridge", "vrf": "vrf", "infiniband": "infiniband", "dummy": "dummy",
}

var macAddress = regexp.MustCompile(`^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$`)

// decode reads YAML or JSON that every reader takes for the same. Its numbers are
// [written].
func decode(raw []byte) (any, error) {
	top, err := yamldoc.Decode(raw)
	if err != nil {
		return nil, err
	}
	if err := yamldoc.Ambiguous(raw); err != nil {
		return nil, err
	}
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(raw, &document); err != nil || len(document.Content) == 0 {
		return top, err
	}
	return asWritten(document.Content[0], top), nil
}

// parse reads a document; all that is wrong is collected in r.
func parse(r *reader, raw []byte) *document {
	top, err := decode(raw)
	if err != nil {
		r.refuse("document", "%v", err)
		return &document{}
	}
	o := r.newObject("", top)
	d := &document{}
	for _, i := range o.objects("interfaces") {
		d.add(parseInterface(i))
	}
	host := o.child("hostname")
	d.hostname = parseHostname(host)
	host.done()
	resolver := o.child("dns-resolver")
	d.dns = parseDNS(resolver.child("config"))
	resolver.done()
	routes := o.child("routes")
	for _, c := range routes.objects("config") {
		if rt, present := parseRoute(c); present {
			d.routes = append(d.routes, rt)
		}
	}
	routes.done()
	rules := o.child("route-rules")
	for _, c := range rules.objects("config") {
		if rl, present := parseRule(c); present {
			d.rules = append(d.rules, rl)
		}
	}
	rules.done()
	for _, key := range []string{"ovn", "ovs-db"} {
		if _, path, there := o.take(key); there {
			o.refuse(path, "%s", openVSwitchReason)
		}
	}
	o.done()
	return d
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)

// parseHostname reads the name of the host.
func parseHostname(o *object) string {
	name := o.text("config")
	if name != "" && (len(name) > 64 || !hostName.MatchString(name)) {
		o.refuse(o.at("config"), "%q is not a host name (at most 64 letters, digits, dots and dashes)", name)
	}
	return name
}

func parseInterface(o *object) *iface {
	i := &iface{path: o.path, name: o.name("name"), profile: o.text("profile-name")}
	o.remark("description")
	i.kind = parseType(o)
	i.up, i.down = parseState(o)
	parseMAC(o, i)
	switch {
	case i.kind == "ethernet" && i.matchMAC == "" && functionCard(i.name) != "":
		o.leaveFunction(o.at("name"), i.name)
	case i.matchMAC != "" && isAnyName(i.name):
	case !isIfName(i.name):
		o.refuse(o.at("name"), badName, i.name)
	}
	i.mtu = o.number("mtu", 68, i.maxMTU())
	i.noMPTCP = withoutMPTCP(o)
	i.ip4 = parseFamily(o.child("ipv4"), false)
	i.ip6 = parseFamily(o.child("ipv6"), true)
	parseWait(o, i)
	i.lldp = parseLLDP(o.child("lldp"))
	i.ethtool = parseEthtool(o.child("ethtool"))
	all := o.members(promiscuous)
	if i.kind == "infiniband" && slices.Contains(all, [2]string{promiscuous[0].name, "1"}) {
		o.refuse(o.at(promiscuous[0].name), "an InfiniBand card does not have this")
	}
	i.link = append(i.link, all...)
	switch i.kind {
	case "ethernet":
		parseEthernet(o.child("ethernet"), i)
	case "vlan":
		i.vlan = parseVLAN(o.child("vlan"))
	case "bond":
		i.bond = parseBond(o.child(o.bondMember()))
	case "bridge":
		i.bridge = parseBridge(o.child("bridge"))
	case "vrf":
		i.vrf = parseVRF(o.child("vrf"))
	case "infiniband":
		i.infiniband = parseInfiniband(o.child("infiniband"), i)
	}
	if i.kind == "bond" || i.kind == "bridge" {
		i.copyMAC = o.name("copy-mac-from")
	}
	i.agreeOnMAC(o)
	if i.kind == "" {
		return i // what a type has that is not translated says nothing more
	}
	if _, path, there := o.take("ovs-db"); there {
		o.refuse(path, "%s", openVSwitchReason)
	}
	for _, rate := range []string{"max-tx-rate", "min-tx-rate"} { // a manual has them here
		if _, path, there := o.take(rate); there {
			o.refuse(path, "nmstate has this only for a virtual function, in ethernet.sr-iov.vfs of its card, and ignores it here")
		}
	}
	o.done()
	return i
}

// withoutMPTCP tells that the addresses are not for Multipath TCP, which nmstatectl shows of
// each interface with any. For what, only a system can do that has it switched on.
func withoutMPTCP(o *object) bool {
	mptcp, _ := o.m["mptcp"].(map[string]any)
	if flags, is := mptcp["address-flags"].([]any); len(mptcp) != 1 || !is || len(flags) > 0 {
		return false
	}
	delete(o.m, "mptcp")
	return true
}

// bondMember is where the settings of a bond are; nmstate has two names for it.
func (o *object) bondMember() string {
	for _, name := range []string{"link-aggregation", "bond"} {
		if _, there := o.m[name]; there {
			return name
		}
	}
	return "link-aggregation"
}

// agreeOnMAC leaves an address for a bond that takes over its active port's to nmstatectl,
// which ignores it and says so.
func (i *iface) agreeOnMAC(o *object) {
	if i.bond.mode != "active-backup" || !i.bond.takesPortsMAC() {
		return
	}
	const why = "fail_over_mac active has the bond take the address of its active port; leave one of the two out"
	if i.setMAC != "" {
		o.leave(o.at("mac-address"), why)
	}
	if i.copyMAC != "" {
		o.leave(o.at("copy-mac-from"), why)
	}
}

// maxMTU is the largest MTU of the type; the kernel knows that of those that are not
// translated.
func (i *iface) maxMTU() int {
	switch i.kind {
	case "":
		return maxInt
	case "infiniband":
		return 65520
	}
	return 65535
}

// promiscuous is nmstate's member for what the kernel calls so.
var promiscuous = []member{{name: "accept-all-mac-addresses", form: formBit}}

// parseType returns NetworkManager's connection type; empty for one that is not
// translated.
func parseType(o *object) string {
	kind := o.text("type")
	switch {
	case kind == "":
		kind = "ethernet"
	case slices.Contains(openVSwitch, kind):
		o.refuse(o.at("type"), "%q: %s", kind, openVSwitchReason)
	case slices.Contains(otherTypes, kind):
		o.leave(o.at("type"), "%q is not translated", kind)
	default:
		o.only("type", kind, "ethernet", "vlan", "bond", "linux-bridge", "vrf", "infiniband", "dummy")
	}
	return kinds[kind]
}

// parseState tells whether the interface is to be there, or to be kept down.
func parseState(o *object) (up, down bool) {
	state := o.word("state", []string{"up", "down", "absent"}, []string{"ignore"})
	return state == "" || state == "up", state == "down"
}

// parseMAC tells the two meanings of mac-address apart.
func parseMAC(o *object, i *iface) {
	take := o.station
	switch i.kind {
	case "":
		take = o.mac // nmstatectl shows zeros for a loopback
	case "infiniband":
		take = o.portAddress
	}
	mac := take("mac-address")
	identifier := o.word("identifier", []string{"name", "mac-address"}, []string{"pci-address"})
	if identifier == "pci-address" {
		o.text("pci-address") // which card it is, only the live system knows
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

// infinibandAddress is that of an InfiniBand card, which is longer than a MAC address.
var infinibandAddress = regexp.MustCompile(`^([0-9A-Fa-f]{2}:){19}[0-9A-Fa-f]{2}$`)

// portAddress takes the address of an InfiniBand card, which nmstatectl shows and nobody
// can change. It returns none.
func (o *object) portAddress(key string) string {
	if address := o.text(key); address != "" && !infinibandAddress.MatchString(address) {
		o.refuse(o.at(key), "an InfiniBand card keeps its address, which has 20 bytes")
	}
	return ""
}

// parseWait reads which family a connection waits for.
func parseWait(o *object, i *iface) {
	wait := o.text("wait-ip")
	o.only("wait-ip", wait, "any", "ipv4", "ipv6", "ipv4+ipv6")
	i.ip4.needed = wait == "ipv4" || wait == "ipv4+ipv6"
	i.ip6.needed = wait == "ipv6" || wait == "ipv4+ipv6"
}

func parseFamily(o *object, six bool) family {
	enabled, said := o.maybe("enabled")
	f := family{
		path: o.path, enabled: enabled, dhcp: o.flag("dhcp", false),
		autoDNS: o.flag("auto-dns", true), autoRoute: o.flag("auto-routes", true), autoGateway: o.flag("auto-gateway", true),
		tableID: o.number("auto-route-table-id", 0, 1<<31-1), metric: o.numberOrDefault("auto-route-metric", absent),
	}
	o.flag("allow-extra-address", true) // for who compares afterwards
	if six {
		f.autoconf, f.addrGenMode = o.flag("autoconf", false), strings.ToLower(o.text("addr-gen-mode"))
		f.clientID, f.token = duid(o), token(o)
		o.only("addr-gen-mode", f.addrGenMode, "eui64", "stable-privacy")
		if f.token != "" && f.addrGenMode == "stable-privacy" {
			o.refuse(o.at("token"), "needs addr-gen-mode eui64: it is what else the lower half is made of")
		}
	} else {
		f.clientID = clientID(o.text("dhcp-client-id"))
	}
	f.hostname = dhcpHostname(o, six)
	o.drop("forwarding", "false", "no", "off", "n", "0")
	for _, a := range o.objects("address") {
		addr, ok := parseAddress(a, six)
		switch dynamic := comesByItself(a); {
		case dynamic && !f.auto():
			a.refuse(a.at("ip"), "has an end of its life, which only an address has that came by DHCP or from a router; leave that out, or switch dhcp or autoconf on")
		case ok && six && addr.Addr().IsLinkLocalUnicast(): // the kernel makes it, of the card's own address
		case ok && !dynamic:
			f.addresses = append(f.addresses, addr)
		}
		a.done()
	}
	switch {
	case f.enabled:
	case said: // it has the last word, as with nmstatectl
		f.dhcp, f.autoconf, f.addresses = false, false, nil
	case f.auto() || len(f.addresses) > 0:
		o.refuse(o.at("enabled"), "must be true for addresses, dhcp or autoconf to count")
	}
	o.done()
	return f
}

// parseAddress reads an address of a family. What is wrong it refuses itself.
func parseAddress(o *object, six bool) (p netip.Prefix, ok bool) {
	bits := 32
	if six {
		bits = 128
	}
	ip, length := o.text("ip"), o.number("prefix-length", 0, bits)
	addr, err := netip.ParseAddr(ip)
	switch {
	case err != nil || addr.Is6() != six || !ofHost(addr):
		o.refuse(o.at("ip"), "%q is not an address of this family that a host can have", ip)
	case length < 0:
		o.refuse(o.at("prefix-length"), "is missing")
	default:
		return netip.PrefixFrom(addr, length), true
	}
	return p, false
}

// lifetimes are nmstate's names for how long an address lives, those of its validity first.
var lifetimes = []string{"valid-life-time", "valid-left", "valid-lft", "preferred-life-time", "preferred-left", "preferred-lft"}

// comesByItself tells that an address ends, as those do that came from the network and come
// from there again. nmstatectl shows them, and nobody sets them.
func comesByItself(o *object) (ends bool) {
	for n, key := range lifetimes {
		life := o.text(key)
		ends = ends || n < 3 && life != "" && life != "forever"
	}
	return ends
}

// add adds an interface. Of two with one name, the first is found.
func (d *document) add(i *iface) {
	if d.byName == nil {
		d.byName = map[string]*iface{}
	}
	if d.byName[i.name] == nil {
		d.byName[i.name] = i
	}
	d.interfaces = append(d.interfaces, i)
}

// find returns the interface with that name, or nil.
func (d *document) find(name string) *iface { return d.byName[name] }

// ofHost tells whether a host can have the address: it is that of one station, on any
// link, and in one family.
func ofHost(a netip.Addr) bool {
	return a.Zone() == "" && !a.Is4In6() && !a.IsUnspecified() && !a.IsMulticast()
}
