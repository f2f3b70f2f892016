package validations

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/hub/releases/versions"
	"github.com/ironflow/ironflow/hub/wire"
)

func machineNetworksSet(in ClusterInput) verdict {
	return passIf(len(in.MachineNetworks) > 0, "The machine networks are set",
		"Set machine_networks, or api_vips and ingress_vips in a network of the hosts: the cluster has no machine network")
}

func clusterNetworksSet(in ClusterInput) verdict {
	return passIf(len(in.ClusterNetworks) > 0, "The cluster networks are set", "Set cluster_networks: pods have no addresses")
}

func serviceNetworksSet(in ClusterInput) verdict {
	return passIf(len(in.ServiceNetworks) > 0, "The service networks are set", "Set service_networks: services have no addresses")
}

// Calculated are the networks of the hosts that hold the cluster's API
// addresses, in the addresses' order: what the machine networks should be.
func (s Settings) Calculated(members []Member) []netip.Prefix {
	var out []netip.Prefix
	for _, v := range s.APIVIPs {
		if n, ok := networkOf(v.Address, members); ok && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// networkOf is the subnet of a host that holds the address: that of most hosts,
// the lower one of equals.
func networkOf(a netip.Addr, members []Member) (netip.Prefix, bool) {
	count := map[netip.Prefix]int{}
	for _, m := range members {
		for _, n := range m.Subnets {
			if a.IsValid() && n.Contains(a) && !n.IsSingleIP() {
				count[n]++
			}
		}
	}
	var best netip.Prefix
	for n, c := range count {
		if !best.IsValid() || c > count[best] || c == count[best] && n.String() < best.String() {
			best = n
		}
	}
	return best, best.IsValid()
}

func machineNetworkFits(in ClusterInput) verdict {
	switch {
	case len(in.APIVIPs) == 0 || len(in.MachineNetworks) == 0:
		return wait("Waiting for the API addresses and the machine networks")
	case !slices.ContainsFunc(in.Members, func(m Member) bool { return m.HasInventory }):
		return wait("Waiting for the inventory of a host")
	case in.userBalances():
		return pass("The API addresses are those of the user's load balancer")
	}
	for _, v := range in.APIVIPs {
		n, found := networkOf(v.Address, in.Members)
		if !found {
			return fail("No host has an address in a network that holds API address %s; correct the address, or the hosts' networks", v.Text)
		}
		if !slices.Contains(in.MachineNetworks, n) {
			return fail("API address %s lies in network %s of the hosts, which is none of machine_networks; set it there, or correct the prefix lengths on the hosts", v.Text, n)
		}
	}
	return pass("The machine networks are those of the hosts")
}

// namedNetwork is a network with the setting that it comes from.
type namedNetwork struct {
	setting string
	prefix  netip.Prefix
}

func (s Settings) all() []namedNetwork {
	var out []namedNetwork
	for _, group := range []struct {
		setting  string
		networks []netip.Prefix
	}{{"machine network", s.MachineNetworks}, {"cluster network", s.ClusterNetworks}, {"service network", s.ServiceNetworks}} {
		for _, p := range group.networks {
			out = append(out, namedNetwork{group.setting, p})
		}
	}
	return out
}

func networksApart(in ClusterInput) verdict {
	if len(in.BadNetworks) > 0 {
		return fail("Networks of the cluster are no subnets: %s; correct them", list(in.BadNetworks))
	}
	networks := in.all()
	for i, a := range networks {
		for _, b := range networks[i+1:] {
			if a.prefix.Overlaps(b.prefix) {
				return fail("%s %s and %s %s overlap; choose another one", a.setting, a.prefix, b.setting, b.prefix)
			}
		}
	}
	return pass("No networks of the cluster overlap")
}

// Limits of the subnet that each host gets of the cluster network.
const (
	smallestHostNetwork4 = 25
	hostNetwork6         = 64
)

func prefixesValid(in ClusterInput) verdict {
	if len(in.Cluster.ClusterNetworks) == 0 {
		return wait("Waiting for the cluster networks")
	}
	for _, n := range in.Cluster.ClusterNetworks {
		p, err := netip.ParsePrefix(string(n.CIDR))
		if err != nil {
			return fail("Cluster network %q is no subnet; correct it", n.CIDR)
		}
		if why := HostPrefix(p, int(n.HostPrefix), len(in.Members)); why != "" {
			return fail("host_prefix %d of cluster network %s %s", n.HostPrefix, p, why)
		}
	}
	return pass("Every host gets a subnet of the cluster network")
}

// HostPrefix says what is wrong with the length of the prefix that each of so many hosts
// gets of a cluster network; empty for nothing.
func HostPrefix(p netip.Prefix, prefix, hosts int) string {
	bits := p.Bits()
	switch {
	case p.Addr().Is6() && prefix != hostNetwork6:
		return fmt.Sprintf("has to be %d for IPv6", hostNetwork6)
	case p.Addr().Is4() && prefix > smallestHostNetwork4:
		return fmt.Sprintf("leaves a host less than 128 addresses; use at most %d", smallestHostNetwork4)
	case prefix <= bits:
		return "has to be longer than that of the network; use a longer one"
	case prefix-bits < 31 && 1<<(prefix-bits) < hosts:
		return fmt.Sprintf("has room for %d hosts, the cluster has %d; use a longer one, or a larger network", 1<<(prefix-bits), hosts)
	}
	return ""
}

func families(networks []netip.Prefix) string {
	v4 := slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Addr().Is4() })
	v6 := slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Addr().Is6() })
	switch {
	case v4 && v6:
		return "IPv4 and IPv6"
	case v6:
		return "IPv6"
	case v4:
		return "IPv4"
	}
	return ""
}

func familiesAlike(in ClusterInput) verdict {
	service, cluster, machine := families(in.ServiceNetworks), families(in.ClusterNetworks), families(in.MachineNetworks)
	switch {
	case service == "" || cluster == "":
		return wait("Waiting for the cluster and service networks")
	case machine == "" && in.UserManaged():
		machine = cluster
	case machine == "":
		return wait("Waiting for the machine networks")
	}
	if service != cluster || cluster != machine {
		return fail("The machine networks are of %s, the cluster networks of %s, the service networks of %s; add or remove the network of the other family", machine, cluster, service)
	}
	return pass("All networks are of %s", cluster)
}

// withoutSDN is the first release without OpenShiftSDN.
const withoutSDN = "4.15"

// foreign are network types that come with manifests of their own.
var foreign = []string{wire.ClusterNetworkTypeCiscoACI, wire.ClusterNetworkTypeCilium, wire.ClusterNetworkTypeCalico}

func (s Settings) networkType() string {
	if s.Cluster.NetworkType == nil || *s.Cluster.NetworkType == "" {
		return wire.ClusterNetworkTypeOVNKubernetes
	}
	return *s.Cluster.NetworkType
}

func networkTypeValid(in ClusterInput) verdict {
	kind := in.networkType()
	known := append(slices.Clone(foreign), wire.ClusterNetworkTypeOVNKubernetes, wire.ClusterNetworkTypeOpenShiftSDN, wire.ClusterNetworkTypeNone)
	switch {
	case !slices.Contains(known, kind):
		return fail("Network type %q is not known; use OVNKubernetes", kind)
	case kind != wire.ClusterNetworkTypeOpenShiftSDN:
		return pass("Network type %s is possible", kind)
	case !versions.Older(in.Cluster.OpenshiftVersion, withoutSDN):
		return fail("Release %s has no network type OpenShiftSDN any more; use OVNKubernetes", in.Cluster.OpenshiftVersion)
	case in.SingleNode():
		return fail("Network type OpenShiftSDN does not work on a single node; use OVNKubernetes")
	case families(slices.Concat(in.ClusterNetworks, in.ServiceNetworks, in.MachineNetworks)) != "IPv4":
		return fail("Network type OpenShiftSDN has no IPv6; use OVNKubernetes")
	}
	return pass("Network type OpenShiftSDN is possible")
}
