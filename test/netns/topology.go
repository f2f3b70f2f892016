package netns

// Topology is a network: hosts with interfaces that are plugged into segments.
type Topology struct {
	Hosts []HostSpec
}

// HostSpec is one host.
type HostSpec struct {
	Name  string
	NICs  []NIC
	Bonds []Bond
	VLANs []VLAN
	// Routes are added when all interfaces are up.
	Routes []Route
	// Forwards makes the host a router.
	Forwards bool
	// Resolver is the address of the DNS server that its programs ask; empty means
	// this computer's own.
	Resolver string
	// Services run on it.
	Services []Service
	// Writes gives its steps a root directory of their own, empty at first, because
	// they write files there or find sockets.
	Writes bool
}

// NIC is an Ethernet interface of a host.
type NIC struct {
	Name string
	// Segment is the name of the broadcast domain that it is plugged into. All
	// NICs of a segment reach each other; a segment exists because it is named.
	Segment string
	// MAC is its hardware address; empty lets the kernel choose.
	MAC string
	// MTU of 0 is 1500.
	MTU int
	// Addresses are in CIDR form, of either family.
	Addresses []string
	// Unplugged leaves the NIC without a carrier.
	Unplugged bool
	// Loss is the part of the frames that the segment loses of those that this NIC
	// sends, 0 to 1. Which ones is random, and the same in each run: it depends on
	// the frame's number among those of its EtherType, and on Seed. Such a segment
	// is a hub in user space, because netem is a kernel module that not every
	// machine has.
	Loss float64
	Seed uint64
}

// Bond is an active-backup bond over NICs of the host.
type Bond struct {
	Name      string
	NICs      []string
	MAC       string
	Addresses []string
}

// VLAN is a VLAN interface on top of another interface of the host.
type VLAN struct {
	Name      string
	Parent    string
	ID        int
	Addresses []string
}

// Route leads to a network over a gateway, or directly over an interface.
type Route struct {
	// To is a network in CIDR form.
	To string
	// Via is the gateway's address; Dev, without one, the interface.
	Via, Dev string
	// Local makes all addresses of the network the host's own; Dev is "lo".
	Local bool
}

// lossy lists the segments that must be hubs in user space.
func (t Topology) lossy() map[string]bool {
	out := map[string]bool{}
	for _, h := range t.Hosts {
		for _, nic := range h.NICs {
			if nic.Loss > 0 {
				out[nic.Segment] = true
			}
		}
	}
	return out
}
