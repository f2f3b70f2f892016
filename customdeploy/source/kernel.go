package source

import (
	"context"
	"net/netip"
)

// Kernel answers what no file tells. Every call is one exchange without state
// and returns [ErrNoAnswer] where the machine has no such thing.
type Kernel interface {
	// Uname returns what uname(2) tells.
	Uname() (Uname, error)
	// Network returns links, addresses and routes of the main tables (rtnetlink).
	Network() (Network, error)
	// PermanentMAC asks the driver for the interface's burnt-in MAC (ethtool).
	PermanentMAC(nic string) (string, error)
	// Inquiry reads a page of vital product data of the device, a path below
	// /dev (SG_IO, INQUIRY).
	Inquiry(device string, page byte) ([]byte, error)
	// IPMI sends the request to the machine's own BMC (/dev/ipmi0) and waits for
	// its reply: the completion code and the data behind it.
	IPMI(ctx context.Context, request IPMIRequest) ([]byte, error)
}

// Uname is a part of utsname.
type Uname struct {
	// Nodename is the host name, Machine the architecture.
	Nodename string `json:"nodename"`
	Machine  string `json:"machine"`
}

// Network is one look at the network stack.
type Network struct {
	Links []Link `json:"links"`
	// Routes are those of the main tables, IPv4 then IPv6, in the kernel's order.
	Routes []Route `json:"routes"`
}

// Link is a network interface.
type Link struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	// Kind is the kernel's word for a virtual link (bond, vlan, veth); empty for
	// links that drivers make for hardware, and for the loopback.
	Kind string `json:"kind,omitempty"`
	MAC  string `json:"mac,omitempty"`
	// PermanentMAC is IFLA_PERM_ADDRESS; empty where the driver has none.
	PermanentMAC string `json:"permanent_mac,omitempty"`
	// Member is the kind of what the link is enslaved to (bond, bridge).
	Member string `json:"member,omitempty"`
	MTU    int    `json:"mtu,omitempty"`
	// Flags are up, broadcast, loopback, pointtopoint, multicast, running.
	Flags   []string `json:"flags,omitempty"`
	Carrier bool     `json:"carrier,omitempty"`
	// Addresses are in the kernel's order, both families.
	Addresses []netip.Prefix `json:"addresses,omitempty"`
}

// Route is a route of the main table.
type Route struct {
	// Destination is the zero prefix of the family for a default route.
	Destination netip.Prefix `json:"destination"`
	// Gateway is the zero address when there is none. Of a route with several
	// next hops, Gateway and Link are those of the first.
	Gateway netip.Addr `json:"gateway,omitzero"`
	Link    int        `json:"link"`
	Metric  int        `json:"metric,omitempty"`
	// Advertised is set for what was learnt from a router advertisement.
	Advertised bool `json:"advertised,omitempty"`
}

// IPMIRequest is a request of IPMI 2.0.
type IPMIRequest struct {
	NetFn   byte
	Command byte
	Data    []byte
}
