package validations

import (
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/connectivity"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

// Wanted are the hosts that a cluster waits for.
type Wanted struct{ Masters, Arbiters, Workers int }

// Total is the number of hosts that the cluster waits for.
func (w Wanted) Total() int { return w.Masters + w.Arbiters + w.Workers }

// SingleNode tells that the cluster is one host.
func (w Wanted) SingleNode() bool { return w.Masters == 1 && w.Total() == 1 }

// Settings are a cluster's own, read once.
type Settings struct {
	Cluster *wire.Cluster
	Wanted
	// MachineNetworks, ClusterNetworks and ServiceNetworks are those that can be read.
	MachineNetworks, ClusterNetworks, ServiceNetworks []netip.Prefix
	// BadNetworks are settings that are no subnet.
	BadNetworks []string
	APIVIPs     []VIP
	IngressVIPs []VIP
	// Operators are those that the cluster gets beside its release; LostOperators are names
	// of those that it is to get and that the hub does not offer any more.
	Operators     []operators.Choice
	LostOperators []string
}

// VIP is a virtual address. The address is not valid when the setting is none.
type VIP struct {
	Text     string
	Address  netip.Addr
	Verified wire.VIPVerification
}

// Read reads the settings of a cluster.
func Read(c *wire.Cluster, wanted Wanted) Settings {
	s := Settings{Cluster: c, Wanted: wanted}
	for _, n := range c.MachineNetworks {
		s.MachineNetworks = s.subnet(s.MachineNetworks, n.CIDR)
	}
	for _, n := range c.ClusterNetworks {
		s.ClusterNetworks = s.subnet(s.ClusterNetworks, n.CIDR)
	}
	for _, n := range c.ServiceNetworks {
		s.ServiceNetworks = s.subnet(s.ServiceNetworks, n.CIDR)
	}
	for _, v := range c.APIVIPs {
		s.APIVIPs = append(s.APIVIPs, vip(v.IP, v.Verification))
	}
	for _, v := range c.IngressVIPs {
		s.IngressVIPs = append(s.IngressVIPs, vip(v.IP, v.Verification))
	}
	return s
}

func (s *Settings) subnet(to []netip.Prefix, cidr wire.Subnet) []netip.Prefix {
	p, err := netip.ParsePrefix(string(cidr))
	if err != nil {
		s.BadNetworks = append(s.BadNetworks, string(cidr))
		return to
	}
	return append(to, p.Masked())
}

func vip(ip wire.IP, verified *wire.VIPVerification) VIP {
	v := VIP{Text: string(ip), Verified: wire.VIPVerificationUnverified}
	if a, err := netip.ParseAddr(string(ip)); err == nil {
		v.Address = a.Unmap()
	}
	if verified != nil {
		v.Verified = *verified
	}
	return v
}

// Release tells that the cluster is made from a release. One without asks for
// nothing but what any system needs, and brings its own network.
func (s Settings) Release() bool { return s.Cluster.OpenshiftVersion != "" }

// DayTwo tells that the cluster is installed already and takes more hosts.
func (s Settings) DayTwo() bool { return s.Cluster.Kind == wire.ClusterKindAddHostsCluster }

// UserManaged tells that load balancing and names are the user's.
func (s Settings) UserManaged() bool {
	return s.Cluster.UserManagedNetworking != nil && *s.Cluster.UserManagedNetworking || s.SingleNode()
}

// Platform is the platform that the cluster runs on; bare metal unless set.
func (s Settings) Platform() wire.PlatformType {
	if s.Cluster.Platform == nil || s.Cluster.Platform.Type == "" {
		return wire.PlatformTypeBaremetal
	}
	return s.Cluster.Platform.Type
}

// userBalances tells that the virtual addresses belong to a load balancer of the user's.
func (s Settings) userBalances() bool {
	return s.Cluster.LoadBalancer != nil && s.Cluster.LoadBalancer.Type == wire.LoadBalancerTypeUserManaged
}

// needsVIPs tells that the cluster has virtual addresses of its own.
func (s Settings) needsVIPs() bool { return s.Release() && !s.UserManaged() && !s.DayTwo() }

func (s Settings) asksDHCP() bool {
	return s.Cluster.VIPDHCPAllocation != nil && *s.Cluster.VIPDHCPAllocation
}

// Least is the number of hosts that make a majority group.
func (s Settings) Least() int { return min(connectivity.Least, max(s.Total(), 2)) }

// Zone is the DNS zone of the cluster, or "".
func (s Settings) Zone() string {
	if s.Cluster.Name == "" || s.Cluster.BaseDNSDomain == "" {
		return ""
	}
	return s.Cluster.Name + "." + s.Cluster.BaseDNSDomain
}

// Networks are those that majority groups are looked for in.
func (s Settings) Networks() []connectivity.Network {
	var out []connectivity.Network
	for _, p := range s.MachineNetworks {
		out = append(out, connectivity.Subnet(p))
	}
	return append(out, connectivity.Families()...)
}

// Member is what a cluster's facts need of one of its hosts. It is small: a
// cluster of 500 keeps 500 of them.
type Member struct {
	ID, Name, Label string
	Role            wire.HostRole
	HasInventory    bool
	// Subnets and Addresses are the host's own, in the same order.
	Subnets   []netip.Prefix
	Addresses []string
	// ClockAhead is how far the host's clock was ahead at its last poll.
	ClockAhead time.Duration
	ClockKnown bool
	// Strangers are the addresses of peers that somebody else answered for.
	Strangers []Stranger
	// GPUs are the PCI vendor ids of its GPUs, Spare the sizes in GB of the disks that
	// operators of the cluster may take.
	GPUs  []string
	Spare []int64
}

// Stranger is an address that was seen with a MAC that its owner does not have.
type Stranger struct{ Address, MAC string }

// Member digests the host for its cluster.
func (f *HostFacts) Member() Member {
	m := Member{
		ID: f.Host.ID, Name: f.Name(), Label: f.Label(), Role: f.Role(),
		HasInventory: f.Inventory != nil, Spare: f.spareDisks(),
	}
	if f.Inventory != nil {
		m.GPUs = gpusOf(f.Inventory)
	}
	if f.Links != nil {
		m.Strangers = f.Links.Strangers
	}
	for _, a := range f.addresses() {
		m.Subnets, m.Addresses = append(m.Subnets, a.prefix.Masked()), append(m.Addresses, a.prefix.Addr().String())
	}
	m.ClockAhead, m.ClockKnown = ClockAhead(f.Host.Timestamp, f.Host.CheckedInAt.Time)
	return m
}

// ClusterFacts is what the hosts of a cluster have in common: computed once for
// a change, and read by the checks of every host.
type ClusterFacts struct {
	Settings
	Members []Member
	// Names counts the hosts of each name; Roles and Labels are by host id.
	Names  map[string]int
	Roles  map[string]wire.HostRole
	Labels map[string]string
	// Groups are the majority groups by network.
	Groups map[string][]string
	// Strangers are the foreign MACs by address.
	Strangers map[string][]string
}

// Summarise computes the facts. groups are the majority groups of the networks
// of [Settings.Networks].
func Summarise(s Settings, members []Member, groups map[string][]string) *ClusterFacts {
	f := &ClusterFacts{
		Settings: s, Members: members, Groups: groups, Names: map[string]int{}, Roles: map[string]wire.HostRole{},
		Labels: map[string]string{}, Strangers: map[string][]string{},
	}
	for _, m := range members {
		if m.Name != "" {
			f.Names[m.Name]++
		}
		f.Roles[m.ID], f.Labels[m.ID] = m.Role, m.Label
		for _, stranger := range m.Strangers {
			if macs := f.Strangers[stranger.Address]; !slices.Contains(macs, stranger.MAC) {
				f.Strangers[stranger.Address] = append(macs, stranger.MAC)
			}
		}
	}
	return f
}

// MajorityGroups is the cluster's connectivity_majority_groups.
func (f *ClusterFacts) MajorityGroups() string { return asJSON(f.Groups) }

// IPCollisions is the cluster's ip_collisions; empty without any.
func (f *ClusterFacts) IPCollisions() string {
	if len(f.Strangers) == 0 {
		return ""
	}
	return asJSON(f.Strangers)
}

// asJSON encodes values that cannot fail to encode.
func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
