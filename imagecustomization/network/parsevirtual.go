package network

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// bondModes are all modes, by name and by the kernel's number.
var bondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

// Bits of a VLAN's flags.
const (
	vlanReorder = 1 << iota
	vlanGVRP
	vlanLoose
	vlanMVRP
)

func parseVLAN(o *object) vlan {
	v := vlan{base: o.name("base-iface"), id: o.number("id", 1, 4094), protocol: o.text("protocol")}
	if v.base == "" {
		o.refuse(o.at("base-iface"), "is missing")
	}
	if v.id < 0 {
		o.refuse(o.at("id"), "is missing")
	}
	o.only("protocol", v.protocol, "802.1q", "802.1ad")
	if o.flag("reorder-headers", true) {
		v.flags |= vlanReorder
	}
	if o.flag("loose-binding", false) {
		v.flags |= vlanLoose
	}
	registration := o.text("registration-protocol")
	o.only("registration-protocol", registration, "none", "gvrp", "mvrp")
	v.flags |= map[string]int{"gvrp": vlanGVRP, "mvrp": vlanMVRP}[registration]
	v.takeMap("egress-priority-map", o.objects("egress-qos-map"), maxInt, maxPriority)
	v.takeMap("ingress-priority-map", o.objects("ingress-qos-map"), maxPriority, maxInt)
	o.done()
	return v
}

// maxPriority is the highest priority that a VLAN's tag has room for.
const maxPriority = 7

// takeMap takes which priority becomes which, in NetworkManager's order.
func (v *vlan) takeMap(key string, list []*object, maxFrom, maxTo int) {
	becomes := map[int]int{}
	for _, o := range list {
		from, to := o.number("from", 0, maxFrom), o.number("to", 0, maxTo)
		_, twice := becomes[from]
		switch {
		case from == absent || to == absent:
			o.refuse(o.path, "needs from and to")
		case twice:
			o.refuse(o.at("from"), "%d appears twice", from)
		}
		becomes[from] = to
		o.done()
	}
	var all strings.Builder
	for _, from := range slices.Sorted(maps.Keys(becomes)) {
		fmt.Fprintf(&all, "%d:%d;", from, becomes[from])
	}
	if all.Len() > 0 {
		v.maps = append(v.maps, [2]string{key, all.String()})
	}
}

// ports takes a list of ports by name.
func (o *object) ports(key string) []port {
	var out []port
	path := o.at(key)
	for n, name := range o.names(key) {
		p := port{path: fmt.Sprintf("%s[%d]", path, n), name: name}
		o.leaveFunction(p.path, name)
		out = append(out, p)
	}
	return out
}

func parseBond(o *object) bond {
	b := bond{mode: o.text("mode"), ports: slices.Concat(o.ports("port"), o.ports("ports"), o.ports("slaves"))}
	b.mode = bondMode(b.mode)
	if b.mode == "" {
		o.refuse(o.at("mode"), "is missing")
	}
	o.only("mode", b.mode, bondModes...)
	for _, p := range o.objects("ports-config") {
		b.ports = bondPort(p, b.ports)
	}
	options := o.child("options")
	b.takeOptions(options, "")
	options.drop("lacp_active", "true", "yes", "on", "y", "1")
	options.drop("arp_missed_max", "2")
	options.drop("ns_ip6_target", empty)
	options.done()
	o.done()
	return b
}

// bondMode returns the name of a mode that is written as the kernel's number, or by what it
// speaks.
func bondMode(mode string) string {
	if mode == "lacp" {
		return lacpModes[0]
	}
	if len(mode) == 1 && mode[0] >= '0' && mode[0] <= '6' {
		return bondModes[mode[0]-'0']
	}
	return mode
}

// bondPort reads the settings of one port, which need not be named a second time.
func bondPort(o *object, ports []port) []port {
	name := o.name("name")
	if name == "" {
		o.refuse(o.at("name"), "is missing")
	}
	o.leaveFunction(o.at("name"), name)
	at := slices.IndexFunc(ports, func(p port) bool { return p.name == name })
	if at < 0 {
		at, ports = len(ports), append(ports, port{path: o.path, name: name})
	}
	if id := o.number("queue-id", 0, 65535); id > 0 {
		ports[at].options = append(ports[at].options, [2]string{"queue-id", strconv.Itoa(id)})
	}
	o.drop("priority", "0")
	o.done()
	return ports
}

// stpOptions and bridgeOptions are those of a bridge, under NetworkManager's keys.
var (
	stpOptions = []member{
		{name: "forward-delay", form: formNumber, low: 2, high: 30},
		{name: "hello-time", form: formNumber, low: 1, high: 10},
		{name: "max-age", form: formNumber, low: 6, high: 40},
		{name: "priority", form: formNumber, high: 65535},
	}
	ageing        = []member{{name: "mac-ageing-time", key: "ageing-time", form: formNumber, high: 1000000}}
	bridgeOptions = []member{
		{name: "multicast-snooping", form: formFlag},
		{name: "multicast-querier", form: formFlag},
		{name: "multicast-query-use-ifaddr", form: formFlag},
		{name: "multicast-last-member-count", form: formNumber, high: maxInt},
		{name: "multicast-last-member-interval", form: formNumber, high: maxInt},
		{name: "multicast-membership-interval", form: formNumber, high: maxInt},
		{name: "multicast-querier-interval", form: formNumber, high: maxInt},
		{name: "multicast-query-interval", form: formNumber, high: maxInt},
		{name: "multicast-query-response-interval", form: formNumber, high: maxInt},
		{name: "multicast-startup-query-count", form: formNumber, high: maxInt},
		{name: "multicast-startup-query-interval", form: formNumber, high: maxInt},
	}
	bridgePortOptions = []member{
		{name: "stp-path-cost", key: "path-cost", form: formNumber, high: 65535},
		{name: "stp-priority", key: "priority", form: formNumber, high: 63},
	}
)

func parseBridge(o *object) bridge {
	var b bridge
	o.flag("allow-extra-ports", false) // for who compares afterwards
	options := o.child("options")
	stp := options.child("stp")
	b.options = append(b.options, [2]string{"stp", fmt.Sprint(stp.flag("enabled", true))})
	b.options = append(b.options, stp.members(stpOptions)...)
	stp.done()
	b.options = append(b.options, options.members(ageing)...)
	if mask := forwardMask(options); mask != absent {
		b.options = append(b.options, [2]string{"group-forward-mask", strconv.Itoa(mask)})
	}
	if size := options.number("hash-max", 1, maxInt); size != absent {
		if size&(size-1) != 0 {
			options.refuse(options.at("hash-max"), "%d is no power of two", size)
		}
		b.options = append(b.options, [2]string{"multicast-hash-max", strconv.Itoa(size)})
	}
	b.options = append(b.options, options.members(bridgeOptions)...)
	if router := options.text("multicast-router"); router != "" {
		b.options = append(b.options, [2]string{"multicast-router", multicastRouter(options, router)})
	}
	if group := options.mac("group-addr"); group != "" && group != "01:80:C2:00:00:00" {
		if !groupAddress.MatchString(group) {
			options.refuse(options.at("group-addr"), "%s is none of 01:80:C2:00:00:00 and 01:80:C2:00:00:04 to 0F", group)
		}
		b.options = append(b.options, [2]string{"group-address", group})
	}
	protocol := options.text("vlan-protocol")
	options.only("vlan-protocol", protocol, "802.1q", "802.1ad")
	if protocol == "802.1ad" {
		b.options = append(b.options, [2]string{"vlan-protocol", protocol})
	}
	if pvid := options.number("vlan-default-pvid", 0, 4094); pvid != absent {
		b.options = append(b.options, [2]string{"vlan-default-pvid", strconv.Itoa(pvid)})
	}
	options.done()
	list := o.objects("port")
	if len(list) == 0 {
		list = o.objects("ports")
	}
	for _, p := range list {
		b.addPort(p)
	}
	o.done()
	return b
}

// groupAddress is one of the link's that a bridge may take for itself.
var groupAddress = regexp.MustCompile(`^01:80:C2:00:00:0[4-9A-F]$`)

// neverForwarded are the bits of protocols of the link itself: STP, pause frames and LACP.
const neverForwarded = 7

// forwardMask takes which protocols of the link are forwarded. nmstate has two names for it.
func forwardMask(o *object) int {
	mask, again := o.number("group-forward-mask", 0, 65535), o.number("group-fwd-mask", 0, 65535)
	name := "group-forward-mask"
	switch {
	case mask == absent:
		mask, name = again, "group-fwd-mask"
	case again != absent && again != mask:
		o.refuse(o.at("group-fwd-mask"), "must equal group-forward-mask, they are one setting")
	}
	if mask != absent && mask&neverForwarded != 0 {
		o.refuse(o.at(name), "no bridge forwards STP, pause frames and LACP, which are the lowest three bits")
	}
	return mask
}

// multicastRouter returns the word for what the kernel has a number for.
func multicastRouter(o *object, given string) string {
	words := []string{"disabled", "auto", "enabled"}
	if len(given) == 1 && given[0] >= '0' && given[0] <= '2' {
		given = words[given[0]-'0']
	}
	if !slices.Contains(words, given) {
		o.refuse(o.at("multicast-router"), "%q is none of %s", given, strings.Join(words, ", "))
	}
	return given
}

func (b *bridge) addPort(o *object) {
	p := port{path: o.path, name: o.name("name")}
	if p.name == "" {
		o.refuse(o.at("name"), "is missing")
	}
	o.leaveFunction(o.at("name"), p.name)
	if o.flag("stp-hairpin-mode", false) {
		p.options = append(p.options, [2]string{"hairpin-mode", "true"})
	}
	p.options = append(p.options, o.members(bridgePortOptions)...)
	tags := o.child("vlan")
	filtering := len(tags.m) > 0
	if vlans := portVLANs(tags); len(vlans) > 0 {
		p.options = append(p.options, [2]string{"vlans", strings.Join(vlans, ",")})
	}
	tags.done()
	// The bridge looks at tags as soon as one of its ports has any to look at.
	if filtering && !b.filtering {
		b.filtering = true
		b.options = append(b.options, [2]string{"vlan-filtering", "true"})
	}
	o.done()
	b.ports = append(b.ports, p)
}

// portVLANs are the VLANs of a bridge's port, in NetworkManager's order.
func portVLANs(o *object) []string {
	vlans, taken := map[int]string{}, map[int]bool{}
	mode, tag, native := o.text("mode"), o.number("tag", 0, 4094), o.flag("enable-native", false)
	o.only("mode", mode, "access", "trunk")
	for _, t := range o.objects("trunk-tags") {
		id, ids := t.number("id", 1, 4094), t.child("id-range")
		low, high := ids.number("min", 1, 4094), ids.number("max", 1, 4094)
		ids.done()
		if id != absent && low == absent && high == absent {
			low, high = id, id
			id = absent
		}
		twice := firstTaken(taken, low, high)
		switch {
		case mode != "trunk":
			t.refuse(t.path, "only a port of mode trunk has trunk-tags")
		case twice != absent:
			t.refuse(t.path, "VLAN %d appears twice", twice)
		case id == absent && low != absent && high == low:
			vlans[low] = strconv.Itoa(low)
		case id == absent && low != absent && high > low:
			vlans[low] = fmt.Sprintf("%d-%d", low, high)
		default:
			t.refuse(t.path, "needs either an id or an id-range with min and max")
		}
		t.done()
	}
	switch {
	case mode == "" && tag == absent && !native:
	case mode == "":
		o.refuse(o.at("mode"), "is missing")
	case mode == "access" && native:
		o.refuse(o.at("enable-native"), "only a port of mode trunk has a native VLAN")
	case mode == "trunk" && tag > 0 && !native:
		o.refuse(o.at("tag"), "a port of mode trunk needs enable-native for it")
	case native && tag < 1:
		o.refuse(o.at("tag"), "is missing")
	case tag > 0 && taken[tag]:
		o.refuse(o.at("tag"), "%d is among the trunk-tags, too", tag)
	}
	if tag > 0 {
		vlans[tag] = fmt.Sprintf("%d pvid untagged", tag)
	}
	var out []string
	for _, first := range slices.Sorted(maps.Keys(vlans)) {
		out = append(out, vlans[first])
	}
	return out
}

// firstTaken marks the VLANs of a range, and returns the first that was taken before, or absent.
func firstTaken(taken map[int]bool, low, high int) int {
	twice := absent
	for id := low; low != absent && id <= high; id++ {
		if taken[id] && twice == absent {
			twice = id
		}
		taken[id] = true
	}
	return twice
}

func parseVRF(o *object) vrf {
	v := vrf{table: o.number("route-table-id", 1, maxUint32), ports: append(o.ports("port"), o.ports("ports")...)}
	if v.table == absent {
		o.refuse(o.at("route-table-id"), "is missing")
	}
	o.done()
	return v
}
