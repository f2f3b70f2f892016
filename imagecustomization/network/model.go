package network

import "net/netip"

// document is the part of a description of the network that can be translated.
type document struct {
	// declared tells that every port has to be among the interfaces.
	declared   bool
	interfaces []*iface
	byName     map[string]*iface
	hostname   string
	dns        dns
	routes     []route
	rules      []rule
	// unnamed tells that a keyfile names a card that is found by its address where
	// NetworkManager wants the kernel's name.
	unnamed bool
}

// iface is one interface.
type iface struct {
	path     string
	name     string // in the document
	device   string // the kernel's name, empty for the document's
	profile  string
	kind     string // NetworkManager's connection type
	matchMAC string // the interface is the one with this address
	setMAC   string // the interface gets this address
	copyMAC  string // the port whose address it gets
	mtu      int
	up       bool
	down     bool // it is kept from coming up by itself, which a card without a connection does
	lldp     int
	noMPTCP  bool
	ip4, ip6 family

	link    [][2]string // speed and the like of a card
	ethtool [][2]string
	sriov   [][2]string

	vlan       vlan
	bond       bond
	bridge     bridge
	vrf        vrf
	infiniband [][2]string

	controller  string // the bond, bridge or VRF that it is a port of
	held        bool   // which is kept down, and the port would bring it up
	portType    string
	portOptions [][2]string
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
	clientID           string      // DHCPv4 client id or DHCPv6 DUID
	hostname           [][2]string // what DHCP is told of the host's name
	addrGenMode        string      // IPv6 only
	token              string      // IPv6 only
	needed             bool        // the connection waits for it
}

// auto tells whether the family takes anything from the network.
func (f family) auto() bool { return f.dhcp || f.autoconf }

type vlan struct {
	base     string
	id       int
	protocol string
	flags    int
	maps     [][2]string // of priorities
}

type bond struct {
	mode    string
	options [][2]string
	ports   []port
	primary string
}

// port is one of a bond, bridge or VRF.
type port struct {
	path, name string
	options    [][2]string
}

type bridge struct {
	options   [][2]string
	ports     []port
	filtering bool
}

type vrf struct {
	table int
	ports []port
}

type dns struct {
	path    string
	servers []netip.Addr
	search  []string
	options []string
}

type route struct {
	path        string
	destination netip.Prefix
	via         netip.Addr // invalid for a route on the link
	device      string     // empty for a route that leads nowhere
	kind        string     // blackhole and the like
	metric      int
	table       int
	options     [][2]string
}

type rule struct {
	path     string
	six      bool
	from, to netip.Prefix
	priority int
	table    int
	words    []string // what else it asks for
	iif      string
	action   string
}
