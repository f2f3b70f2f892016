package network

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// parseEthernet reads what a card has: how it talks to its switch, and its virtual
// functions.
func parseEthernet(o *object, i *iface) {
	speed, duplex := o.number("speed", 1, 1000000), o.text("duplex")
	o.only("duplex", duplex, "full", "half")
	// NetworkManager takes the two together only.
	switch {
	case speed != absent && duplex == "":
		o.refuse(o.at("speed"), "needs a duplex beside it")
	case speed == absent && duplex != "":
		o.refuse(o.at("duplex"), "needs a speed beside it")
	}
	if auto, given := o.maybe("auto-negotiation"); given {
		i.link = append(i.link, [2]string{"auto-negotiate", fmt.Sprint(auto)})
	}
	if speed != absent && duplex != "" {
		i.link = append(i.link, [2]string{"speed", fmt.Sprint(speed)}, [2]string{"duplex", duplex})
	}
	i.sriov = parseSRIOV(o.child("sr-iov"))
	o.done()
}

// virtualFunction are the settings of one, in NetworkManager's order.
var virtualFunction = []member{
	{name: "max-tx-rate", form: formNumber, high: maxInt},
	{name: "min-tx-rate", form: formNumber, high: maxInt},
	{name: "spoof-check", form: formFlag},
	{name: "trust", form: formFlag},
}

// parseSRIOV reads the virtual functions of a card.
func parseSRIOV(o *object) [][2]string {
	var settings [][2]string
	total := o.number("total-vfs", 0, 65535)
	if total != absent {
		settings = append(settings, [2]string{"total-vfs", strconv.Itoa(total)})
	}
	settings = append(settings, o.members([]member{{name: "drivers-autoprobe", key: "autoprobe-drivers", form: formBit}})...)
	seen := map[int]bool{}
	for _, vf := range o.objects("vfs") {
		id := vf.number("id", 0, 65534)
		switch {
		case id == absent:
			vf.refuse(vf.at("id"), "is missing")
		case seen[id]:
			vf.refuse(vf.at("id"), "%d appears twice", id)
		case total != absent && id >= total:
			vf.refuse(vf.at("id"), "%d is none of the %d that total-vfs makes, which begin with 0", id, total)
		}
		seen[id] = true
		var words []string
		if mac := vf.mac("mac-address"); mac != "" {
			words = append(words, "mac="+mac)
		}
		for _, setting := range vf.members(virtualFunction) {
			words = append(words, setting[0]+"="+setting[1])
		}
		words = append(words, functionVLAN(vf)...)
		vf.done()
		settings = append(settings, [2]string{fmt.Sprintf("vf.%d", id), strings.Join(words, " ")})
	}
	o.done()
	return settings
}

// functionVLAN is the VLAN that a virtual function is in, as ID.QOS.PROTOCOL.
func functionVLAN(vf *object) []string {
	id, qos, protocol := vf.number("vlan-id", 0, 4094), vf.number("qos", 0, 7), vf.text("vlan-proto")
	vf.only("vlan-proto", protocol, "802.1q", "802.1ad")
	if id < 1 { // nmstatectl shows a 0 for none
		if qos > 0 {
			vf.refuse(vf.at("qos"), "needs a vlan-id")
		}
		return nil
	}
	text := fmt.Sprintf("vlans=%d", id)
	if qos > 0 || protocol == "802.1ad" {
		text += fmt.Sprintf(".%d", max(qos, 0))
	}
	if protocol == "802.1ad" {
		text += ".ad"
	}
	return []string{text}
}

// parseLLDP returns whether neighbours are listened to: 1, 0, or absent.
func parseLLDP(o *object) int {
	on, given := o.maybe("enabled")
	o.m = without(o.m, "neighbors") // what was heard
	o.done()
	switch {
	case !given:
		return absent
	case on:
		return 1
	default:
		return 0
	}
}

func without(m map[string]any, key string) map[string]any {
	delete(m, key)
	return m
}

// pause, coalesce and ring are the groups of ethtool's parameters, under
// NetworkManager's keys.
var (
	pause = []member{
		{name: "autoneg", key: "pause-autoneg"}, {name: "rx", key: "pause-rx"}, {name: "tx", key: "pause-tx"},
	}
	coalesceFlags   = []string{"adaptive-rx", "adaptive-tx"}
	coalesceNumbers = []string{
		"pkt-rate-high", "pkt-rate-low", "rx-frames", "rx-frames-high", "rx-frames-irq", "rx-frames-low", "rx-usecs", "rx-usecs-high",
		"rx-usecs-irq", "rx-usecs-low", "sample-interval", "stats-block-usecs", "tx-frames", "tx-frames-high", "tx-frames-irq",
		"tx-frames-low", "tx-usecs", "tx-usecs-high", "tx-usecs-irq", "tx-usecs-low",
	}
	rings = []string{"rx", "rx-jumbo", "rx-mini", "tx"}
)

// group makes members of names, whose keys have a prefix.
func group(prefix string, f form, names []string) []member {
	var out []member
	for _, name := range names {
		out = append(out, member{name: name, key: prefix + name, form: f, high: maxInt})
	}
	return out
}

// parseEthtool reads the parameters of a card's driver.
func parseEthtool(o *object) (settings [][2]string) {
	features, values := o.child("feature"), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(features.m)) {
		path := features.at(name)
		key, known := features.feature(name)
		on, given := features.maybe(name)
		value, again := values[key]
		switch {
		case !known:
			o.leave(path, "NetworkManager does not know this feature")
		case again && given && value != on:
			o.refuse(path, "contradicts what is said of the same feature under another name")
		case given && !again:
			values[key] = on
			settings = append(settings, [2]string{"feature-" + key, fmt.Sprint(on)})
		}
	}
	for _, part := range []struct {
		name  string
		table []member
	}{
		{name: "pause", table: pause},
		{name: "coalesce", table: append(group("coalesce-", formBit, coalesceFlags), group("coalesce-", formNumber, coalesceNumbers)...)},
		{name: "ring", table: group("ring-", formNumber, rings)},
	} {
		c := o.child(part.name)
		taken := c.members(part.table)
		if part.name == "pause" {
			taken = negotiated(taken)
		}
		settings = append(settings, taken...)
		c.done()
	}
	o.done()
	return settings
}

// negotiated leaves out which pause frames there are where the two ends agree on them:
// nmstatectl shows the outcome beside autoneg, and NetworkManager refuses both.
func negotiated(taken [][2]string) [][2]string {
	if !slices.Contains(taken, [2]string{"pause-autoneg", "true"}) {
		return taken
	}
	return [][2]string{{"pause-autoneg", "true"}}
}

// feature returns NetworkManager's name of a feature that has the kernel's name, or
// one of those that ethtool takes beside it.
func (o *object) feature(name string) (string, bool) {
	if other, is := otherFeatures[name]; is {
		name = other
	}
	return name, slices.Contains(features, name)
}

// otherFeatures are the names of the kernel and of ethtool for features that
// NetworkManager calls as ethtool did at first.
var otherFeatures = map[string]string{
	"rx-checksum": "rx", "rx-checksumming": "rx", "tx-generic-segmentation": "gso", "generic-segmentation-offload": "gso",
	"rx-gro": "gro", "generic-receive-offload": "gro", "rx-lro": "lro", "large-receive-offload": "lro",
	"rx-vlan-hw-parse": "rxvlan", "rx-vlan-offload": "rxvlan", "tx-vlan-hw-insert": "txvlan", "tx-vlan-offload": "txvlan",
	"rx-ntuple-filter": "ntuple", "ntuple-filters": "ntuple", "rx-hashing": "rxhash", "receive-hashing": "rxhash",
	"tx-checksumming": "tx", "scatter-gather": "sg", "tcp-segmentation-offload": "tso",
}

// features are those that NetworkManager knows (nm-setting-ethtool); it drops any
// other.
var features = []string{
	"esp-hw-offload", "esp-tx-csum-hw-offload", "fcoe-mtu", "gro", "gso", "highdma", "hw-tc-offload", "l2-fwd-offload", "loopback", "lro",
	"macsec-hw-offload", "ntuple", "rx", "rx-all", "rx-fcs", "rx-gro-hw", "rx-gro-list", "rx-udp-gro-forwarding", "rx-udp_tunnel-port-offload",
	"rx-vlan-filter", "rx-vlan-stag-filter", "rx-vlan-stag-hw-parse", "rxhash", "rxvlan", "sg", "tls-hw-record", "tls-hw-rx-offload",
	"tls-hw-tx-offload", "tso", "tx", "tx-checksum-fcoe-crc", "tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6",
	"tx-checksum-sctp", "tx-esp-segmentation", "tx-fcoe-segmentation", "tx-gre-csum-segmentation", "tx-gre-segmentation", "tx-gso-list",
	"tx-gso-partial", "tx-gso-robust", "tx-ipxip4-segmentation", "tx-ipxip6-segmentation", "tx-nocache-copy", "tx-scatter-gather",
	"tx-scatter-gather-fraglist", "tx-sctp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp-segmentation",
	"tx-tcp6-segmentation", "tx-tunnel-remcsum-segmentation", "tx-udp-segmentation", "tx-udp_tnl-csum-segmentation", "tx-udp_tnl-segmentation",
	"tx-vlan-stag-hw-insert", "txvlan",
}

// pKey is a partition, in hexadecimal or decimal.
var pKey = regexp.MustCompile(`^(0x[0-9A-Fa-f]{1,4}|[0-9]{1,5}|default)$`)

// parseInfiniband reads an InfiniBand card, or a partition of one.
func parseInfiniband(o *object, i *iface) (settings [][2]string) {
	mode := o.text("mode")
	o.only("mode", mode, "datagram", "connected")
	if mode == "" {
		o.refuse(o.at("mode"), "is missing")
	}
	settings = append(settings, [2]string{"transport-mode", mode})
	key, base := o.text("pkey"), o.text("base-iface")
	if key != "" && !pKey.MatchString(key) {
		o.refuse(o.at("pkey"), "%q is not a partition, such as 0x8001", key)
	}
	switch {
	case base == "" && key != "" && key != "default" && !strings.EqualFold(key, "0xffff"):
		o.refuse(o.at("pkey"), "needs a base-iface")
	case base == "":
	case key == "":
		o.refuse(o.at("base-iface"), "needs a pkey")
	default:
		var number int
		if _, err := fmt.Sscan(key, &number); err != nil || number < 1 || number > 0xffff {
			o.refuse(o.at("pkey"), "%q is not a partition, such as 0x8001", key)
			break
		}
		// NetworkManager makes the name itself, and refuses another.
		if want := fmt.Sprintf("%s.%04x", base, number|0x8000); i.name != want {
			o.refuse(o.at("pkey"), "the interface of this partition has the name %s", want)
		}
		settings = append(settings, [2]string{"parent", base}, [2]string{"p-key", fmt.Sprint(number | 0x8000)})
	}
	o.done()
	return settings
}
