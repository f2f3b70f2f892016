package network

import "regexp"

// indices are the places in lists within a path.
var indices = regexp.MustCompile(`\[\d+\]`)

// nmstateOnly are members of nmstate that are not translated, by the path of their
// mapping: nmstatectl may act upon them. A member that is in no table is one that
// nmstate does not have either.
var nmstateOnly = map[string][]string{
	"interfaces": {
		"802.1x", "alt-names", "controller", "dispatch", "hsr", "ip-tunnel", "ipvlan", "libreswan", "mac-vlan", "mac-vtap",
		"macsec", "match", "mptcp", "veth", "vnicc", "vxlan", "xfrm",
	},
	"interfaces.ipv4":                          {"forwarding", "prefix-route-metric"},
	"interfaces.ipv6":                          {"forwarding"},
	"interfaces.ipv4.address":                  {"protocol"},
	"interfaces.ipv6.address":                  {"protocol"},
	"interfaces.ethtool":                       {"channels", "fec"},
	"interfaces.bond.options":                  ofBondOptions,
	"interfaces.bond.ports-config":             {"priority"},
	"interfaces.link-aggregation.options":      ofBondOptions,
	"interfaces.link-aggregation.ports-config": {"priority"},
	"routes.config":                            {"vrf-name"},
	"interfaces.ethernet.sr-iov.vfs":           {"iface-name"},
	"interfaces.ethernet.sr-iov":               {"drivers-autoprobe-timeout"},
}

// ofBondOptions are those of a bond.
var ofBondOptions = []string{"arp_missed_max", "balance-slb", "balance_slb", "lacp_active", "ns_ip6_target"}

// resultsOnly are members that nmstatectl shows and nobody can set, by the path of
// their mapping: documents that were made of its output have them.
var resultsOnly = map[string][]string{
	"":                           {"description"},
	"interfaces":                 {"max-mtu", "min-mtu", "permanent-mac-address", "driver", "pci-address"},
	"interfaces.ipv4.address":    {"mptcp-flags"},
	"interfaces.ipv6.address":    {"mptcp-flags"},
	"interfaces.bridge.options":  {"gc-timer", "hello-timer"},
	"interfaces.ethtool.ring":    {"rx-jumbo-max", "rx-max", "rx-mini-max", "tx-max"},
	"interfaces.ethernet.sr-iov": {"max-vfs"},
	"routes":                     {"running"},
	"dns-resolver":               {"running"},
	"hostname":                   {"running"},
}

// otherTypes are the interface types of nmstate that are not translated.
var otherTypes = []string{
	"hsr", "ip-tunnel", "ipip", "ipsec", "ipvlan", "loopback", "mac-vlan", "mac-vtap", "macsec", "tun", "veth", "vxlan", "xfrm",
}

// openVSwitch are what needs a daemon that no live system runs: nmstatectl has
// nobody to ask there, and NetworkManager has no device of these types.
var openVSwitch = []string{"ovs-bridge", "ovs-interface"}

// openVSwitchReason says why, and what to do.
const openVSwitchReason = "Open vSwitch is not there in the live system; describe the addresses on the card, bond or VLAN here, and make the OVS bridge in the installed system"
