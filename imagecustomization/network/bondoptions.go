package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// bondOption is one option of a bond. NetworkManager drops a value that it does
// not know without a word, or refuses the whole connection, so both are caught
// here.
type bondOption struct {
	name string
	// low and high bound a number; an option with words has none.
	low, high int
	// words are the values in the kernel's order; their number is as good.
	words []string
	// flag options are 0 or 1, written so in the keyfile whatever the document says.
	flag bool
	// idle is the value of a mode that does not have the option, where nmstatectl shows it.
	idle []string
	// check looks at any other value; want says what it wants.
	check func(value string) bool
	want  string
	// modes are those that have the option; none means all.
	modes []string
}

const (
	maxInt    = 1<<31 - 1
	maxUint32 = 1<<32 - 1
)

var (
	// arpModes are the modes whose links can be watched by ARP.
	arpModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast"}
	// primaryModes are those that use one port before the others.
	primaryModes = []string{"active-backup", "balance-tlb", "balance-alb"}
	lacpModes    = []string{"802.3ad"}
)

// bondOptions are the options that nmstate, network_data.json and NetworkManager
// know under the same name; which modes have them is NetworkManager's judgement.
var bondOptions = []bondOption{
	{name: "ad_actor_sys_prio", low: 1, high: 65535, modes: lacpModes},
	{name: "ad_actor_system", check: unicastMAC, want: "a MAC address of one station", modes: lacpModes},
	{name: "ad_select", words: []string{"stable", "bandwidth", "count"}},
	{name: "ad_user_port_key", high: 1023, modes: lacpModes},
	{name: "all_slaves_active", flag: true, words: []string{"dropped", "delivered"}},
	{name: "arp_all_targets", words: []string{"any", "all"}},
	{name: "arp_interval", high: maxInt, idle: []string{"0"}, modes: arpModes},
	{name: "arp_ip_target", check: fourAddresses, want: "up to 16 IPv4 addresses with commas between them", modes: arpModes},
	{name: "arp_validate", words: []string{"none", "active", "backup", "all", "filter", "filter_active", "filter_backup"}, idle: []string{"none", "0"}, modes: arpModes},
	{name: "downdelay", high: maxInt},
	{name: "fail_over_mac", words: []string{"none", "active", "follow"}},
	{name: "lacp_rate", words: []string{"slow", "fast"}, modes: lacpModes},
	{name: "lp_interval", low: 1, high: maxInt},
	{name: "miimon", high: maxInt},
	{name: "min_links", high: maxInt},
	{name: "num_grat_arp", high: 255},
	{name: "num_unsol_na", high: 255},
	{name: "packets_per_slave", high: 65535, modes: []string{"balance-rr"}},
	{name: "primary", check: isPortName, want: "an interface name (at most 15 characters)", modes: primaryModes},
	{name: "primary_reselect", words: []string{"always", "better", "failure"}, idle: []string{"always", "0"}, modes: primaryModes},
	{name: "resend_igmp", high: 255},
	{name: "tlb_dynamic_lb", flag: true, modes: []string{"balance-tlb", "balance-alb"}},
	{name: "updelay", high: maxInt},
	{name: "use_carrier", flag: true},
	{name: "xmit_hash_policy", words: []string{"layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"}},
}

// nobody is the actor's address of a bond that uses its own.
const nobody = "00:00:00:00:00:00"

// takeOptions takes the bond's options, whose names have a prefix in some documents.
func (b *bond) takeOptions(o *object, prefix string) {
	has := map[string]string{}
	for _, option := range bondOptions {
		key := prefix + option.name
		given := o.text(key)
		if given == "" || option.name == "ad_actor_system" && given == nobody {
			continue
		}
		value, why := option.value(given)
		if why == "" && option.modes != nil && !slices.Contains(option.modes, b.mode) {
			if slices.Contains(option.idle, value) {
				continue
			}
			why = fmt.Sprintf("mode %s does not have this option, only %s", b.mode, strings.Join(option.modes, ", "))
		}
		if why != "" {
			o.refuse(o.at(key), "%s", why)
			continue
		}
		has[option.name] = value
		b.options = append(b.options, [2]string{option.name, value})
	}
	b.agree(o, prefix, has)
}

// takesPortsMAC tells that the bond's address is that of its active port.
func (b *bond) takesPortsMAC() bool {
	return slices.ContainsFunc(b.options, func(o [2]string) bool {
		return o[0] == "fail_over_mac" && (o[1] == "active" || o[1] == "1")
	})
}

// agree refuses options that contradict each other.
func (b *bond) agree(o *object, prefix string, has map[string]string) {
	interval, targets := has["arp_interval"] != "" && has["arp_interval"] != "0", has["arp_ip_target"] != ""
	_, others := o.m[prefix+"ns_ip6_target"] // which is not translated
	switch {
	case interval && !targets && !others:
		o.refuse(o.at(prefix+"arp_interval"), "needs arp_ip_target")
	case targets && !interval:
		o.refuse(o.at(prefix+"arp_ip_target"), "needs an arp_interval")
	case interval && has["miimon"] != "" && has["miimon"] != "0":
		o.refuse(o.at(prefix+"arp_interval"), "links are watched by miimon already; keep one of the two")
	}
	if has["miimon"] == "0" {
		for _, delay := range []string{"updelay", "downdelay"} {
			if has[delay] != "" && has[delay] != "0" {
				o.refuse(o.at(prefix+delay), "needs miimon, which is 0 here")
			}
		}
	}
	if arp, na := has["num_grat_arp"], has["num_unsol_na"]; arp != "" && na != "" && arp != na {
		o.refuse(o.at(prefix+"num_unsol_na"), "must equal num_grat_arp, they are one setting of the kernel")
	}
	b.primary = has["primary"]
	if b.primary != "" && !slices.ContainsFunc(b.ports, func(p port) bool { return p.name == b.primary }) {
		o.refuse(o.at(prefix+"primary"), "%q is none of the ports", b.primary)
	}
}

// value returns what the keyfile says, or why there is nothing that it could say.
func (opt bondOption) value(given string) (value, why string) {
	low, high := opt.low, opt.high
	switch {
	case opt.flag:
		if at := slices.Index([]string{"false", "true"}, given); at >= 0 {
			return strconv.Itoa(at), ""
		}
		if at := slices.Index(opt.words, given); at >= 0 {
			return strconv.Itoa(at), ""
		}
		if given == "0" || given == "1" {
			return given, ""
		}
		return "", fmt.Sprintf("%q is neither true nor false", given)
	case opt.check != nil:
		if opt.check(given) {
			return given, ""
		}
		return "", fmt.Sprintf("%q is not %s", given, opt.want)
	case opt.words != nil:
		if slices.Contains(opt.words, given) {
			return given, ""
		}
		low, high = 0, len(opt.words)-1
	}
	// Written as the kernel writes it, so that two spellings give the same bytes.
	if n, err := strconv.Atoi(given); err == nil && n >= low && n <= high {
		return strconv.Itoa(n), ""
	}
	if opt.words != nil {
		return "", fmt.Sprintf("%q is none of %s", given, strings.Join(opt.words, ", "))
	}
	return "", fmt.Sprintf("want a number from %d to %d", low, high)
}

// isPortName tells whether a port can have the name: as an interface, or as a virtual function.
func isPortName(name string) bool { return isIfName(name) || functionCard(name) != "" }

// unicastMAC tells whether the text is the address of one station.
func unicastMAC(text string) bool {
	if !macAddress.MatchString(text) || strings.Trim(text, "0:") == "" {
		return false
	}
	first, err := strconv.ParseUint(text[:2], 16, 8)
	return err == nil && first&1 == 0
}

// maxARPTargets is the kernel's limit.
const maxARPTargets = 16

func fourAddresses(text string) bool {
	all := strings.Split(text, ",")
	for _, one := range all {
		if addr, err := netip.ParseAddr(one); err != nil || !addr.Is4() {
			return false
		}
	}
	return len(all) <= maxARPTargets
}
