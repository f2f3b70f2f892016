package network

import "net/netip"

// document is the part of an nmstate document that can be translated.
type document struct {
	interfaces []*iface
	dns        dns
	routes     []route
	rules      []rule
}

// iface is one interface.
type iface struct {
	path        string
	name        string
	profile     string
	kind        string // NetworkManager's connection type
	matchMAC    string // the interface is the one with this address
	setMAC      string // the interface gets this address
	mtu         int
	up          bool
	ip4, ip6    family
	vlan        vlan
	bond        bond
	bridge      bridge
	controller  string // the bond or bridge that it is a port of
	portType    string
	portOptions [][2]string // of a bridge port
}

// family is the configuration of IPv4 or IPv6.
type family struct {
	path               string
	enabled, dhcp      bool
	autoconf           bool // IPv6 only
	addresses          []netip.Prefix
	autoDNS, autoRoute bool
	autoGateway        bool
	tableID            int
	metric             int
	clientID           string // DHCPv4 client id or DHCPv6 DUID
	addrGenMode        string // IPv6 only
}

// auto tells whether the family takes anything from the network.
func (f family) auto() bool { return f.dhcp || f.autoconf }

type vlan struct {
	base string
	id   int
}

type bond struct {
	mode    string
	options [][2]string
	ports   []string
}

type bridge struct {
	options [][2]string
	ports   []bridgePort
}

type bridgePort struct {
	name    string
	options [][2]string
}

type dns struct {
	path    string
	servers []netip.Addr
	search  []string
}

type route struct {
	path        string
	destination netip.Prefix
	via         netip.Addr // invalid for a route on the link
	device      string
	metric      int
	table       int
}

type rule struct {
	path     string
	from, to netip.Prefix
	priority int
	table    int
}
