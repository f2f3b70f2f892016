package netns

import "github.com/ironflow/ironflow/test/netns/nameserver"

// Topologies are the networks that the agent's steps are judged in. The folder
// testdata has one of the same name with the steps and what they must answer.
var Topologies = map[string]Topology{
	// Two hosts on one segment, with both families.
	"two-hosts": {Hosts: []HostSpec{
		{Name: "a", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0a", Addresses: []string{"192.0.2.10/28", "2001:db8::10/64"}}}},
		{Name: "b", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0b", Addresses: []string{"192.0.2.11/28", "2001:db8::11/64"}}}},
	}},
	// Two segments and a router between them; virtual addresses in and out of the own network.
	"router": {Hosts: []HostSpec{
		{
			Name: "a", NICs: []NIC{{Name: "eth0", Segment: "left", MAC: "52:54:00:00:00:0a", Addresses: []string{"192.0.2.10/24"}}},
			Routes: []Route{{To: "198.51.100.0/24", Via: "192.0.2.1"}},
		},
		{Name: "router", Forwards: true, NICs: []NIC{
			{Name: "eth0", Segment: "left", MAC: "52:54:00:00:00:01", Addresses: []string{"192.0.2.1/24"}},
			{Name: "eth1", Segment: "right", MAC: "52:54:00:00:00:02", Addresses: []string{"198.51.100.1/24"}},
		}},
		{
			Name: "b", NICs: []NIC{{Name: "eth0", Segment: "right", MAC: "52:54:00:00:00:0b", Addresses: []string{"198.51.100.11/24"}}},
			Routes: []Route{{To: "192.0.2.0/24", Via: "198.51.100.1"}},
		},
	}},
	// Hosts a and b meet in VLAN 42; host c has b's address outside of it and must not be heard there.
	"vlan": {Hosts: []HostSpec{
		{
			Name: "a", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0a", Addresses: []string{"198.51.100.10/28"}}},
			VLANs: []VLAN{{Name: "eth0.42", Parent: "eth0", ID: 42, Addresses: []string{"192.0.2.10/28", "2001:db8::10/64"}}},
		},
		{
			Name: "b", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0b"}},
			VLANs: []VLAN{{Name: "eth0.42", Parent: "eth0", ID: 42, Addresses: []string{"192.0.2.11/28", "2001:db8::11/64"}}},
		},
		{Name: "c", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0c", Addresses: []string{"198.51.100.12/28", "192.0.2.11/28", "192.0.2.12/28"}}}},
	}},
	// A bond of two NICs beside a host with one.
	"bond": {Hosts: []HostSpec{
		{
			Name:  "a",
			NICs:  []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0a"}, {Name: "eth1", Segment: "s", MAC: "52:54:00:00:00:1a"}},
			Bonds: []Bond{{Name: "bond0", NICs: []string{"eth0", "eth1"}, MAC: "52:54:00:00:00:0a", Addresses: []string{"192.0.2.10/28", "2001:db8::10/64"}}},
		},
		{Name: "b", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0b", Addresses: []string{"192.0.2.11/28", "2001:db8::11/64"}}}},
	}},
	// IPv6 only; host b has an address from DHCPv6, which says nothing of a prefix.
	"ipv6": {Hosts: []HostSpec{
		{Name: "a", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0a", Addresses: []string{"2001:db8::10/64"}}}},
		{
			Name: "b", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0b", Addresses: []string{"2001:db8::11/128"}}},
			Routes: []Route{{To: "2001:db8::/64", Dev: "eth0"}},
		},
	}},
	// Hosts b and c have the same address.
	"address-in-use": {Hosts: []HostSpec{
		{Name: "a", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0a", Addresses: []string{"192.0.2.10/28"}}}},
		{Name: "b", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0b", Addresses: []string{"192.0.2.11/28"}}}},
		{Name: "c", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0c", Addresses: []string{"192.0.2.11/28"}}}},
	}},
	// Jumbo frames on one side of the router, 1400 bytes on the other.
	"mtu-1400": {Hosts: []HostSpec{
		{
			Name: "a", NICs: []NIC{{Name: "eth0", Segment: "left", MAC: "52:54:00:00:00:0a", MTU: 9000, Addresses: []string{"192.0.2.10/24", "2001:db8:1::10/64"}}},
			Routes: []Route{{To: "198.51.100.0/24", Via: "192.0.2.1"}, {To: "2001:db8:2::/64", Via: "2001:db8:1::1"}},
		},
		{Name: "router", Forwards: true, NICs: []NIC{
			{Name: "eth0", Segment: "left", MAC: "52:54:00:00:00:01", MTU: 9000, Addresses: []string{"192.0.2.1/24", "2001:db8:1::1/64"}},
			{Name: "eth1", Segment: "right", MAC: "52:54:00:00:00:02", MTU: 1400, Addresses: []string{"198.51.100.1/24", "2001:db8:2::1/64"}},
		}},
		{
			Name: "b", NICs: []NIC{{Name: "eth0", Segment: "right", MAC: "52:54:00:00:00:0b", MTU: 1400, Addresses: []string{"198.51.100.11/24", "2001:db8:2::11/64"}}},
			Routes: []Route{{To: "192.0.2.0/24", Via: "198.51.100.1"}, {To: "2001:db8:1::/64", Via: "2001:db8:2::1"}},
		},
	}},
	// The cable of host a is not plugged in.
	"unplugged": {Hosts: []HostSpec{
		{Name: "a", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0a", Unplugged: true, Addresses: []string{"192.0.2.10/28", "2001:db8::10/64"}}}},
		{Name: "b", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0b", Addresses: []string{"192.0.2.11/28", "2001:db8::11/64"}}}},
	}},
	// A fifth of host a's frames is lost.
	"loss": {Hosts: []HostSpec{
		{Name: "a", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0a", Loss: 0.2, Seed: 24, Addresses: []string{"192.0.2.10/28"}}}},
		{Name: "b", NICs: []NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0b", Addresses: []string{"192.0.2.11/28"}}}},
	}},
	// A DHCP server that keeps addresses for two MACs.
	"dhcp": {Hosts: []HostSpec{
		{Name: "machine", Writes: true, NICs: []NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.10/24"}}}},
		{
			Name: "server", NICs: []NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.1/24"}}},
			Services: []Service{DHCP{
				First: "192.0.2.50", Last: "192.0.2.60", Domain: "c.example",
				Reserved: map[string]string{"00:1a:4a:00:00:01": "192.0.2.51", "00:1a:4a:00:00:02": "192.0.2.52"},
			}},
		},
	}},
	// A name server with good answers, one that leaves some questions open, one whose
	// answers come after forged ones, and none at all.
	"dns-good":    withNameServer(DNS{Address: "192.0.2.53", Answer: nameserver.Zone}),
	"dns-slow":    withNameServer(DNS{Address: "192.0.2.53", Answer: nameserver.Slow}),
	"dns-lying":   withNameServer(DNS{Address: "192.0.2.53", Answer: nameserver.Lying}),
	"dns-missing": withNameServer(),
	// A time server, and chrony on the machine.
	"ntp": {Hosts: []HostSpec{
		{
			Name: "server", Writes: true, NICs: []NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.1/24", "192.0.2.2/24"}}},
			Services: []Service{DNS{Address: "192.0.2.1", Answer: nameserver.Zone}, Time{}},
		},
		{
			Name: "machine", Writes: true, Resolver: "192.0.2.1", NICs: []NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.10/24"}}},
			Services: []Service{Chrony{}},
		},
	}},
	// A Tang server.
	"tang": {Hosts: []HostSpec{
		{Name: "machine", NICs: []NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.10/24"}}}},
		{
			Name: "server", NICs: []NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.1/24"}}},
			Services: []Service{Tang{Address: "192.0.2.1:80"}},
		},
	}},
}

// withNameServer is a machine that asks a name server, which runs the services.
func withNameServer(services ...Service) Topology {
	return Topology{Hosts: []HostSpec{
		{Name: "machine", Resolver: "192.0.2.53", NICs: []NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.10/24"}}}},
		{Name: "server", NICs: []NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.53/24"}}}, Services: services},
	}}
}
