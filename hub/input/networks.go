package input

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/releases/versions"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// network is one of a cluster's, with the member that it stands in.
type network struct {
	member string
	prefix netip.Prefix
	// found tells that the hub has found it out by its hosts.
	found bool
	share int64
}

// networksOf reads all of the cluster's networks.
func networksOf(c *Cluster) (out []network, err error) {
	add := func(list string, i int, cidr wire.Subnet, n network) {
		n.member = fmt.Sprintf("%s[%d].cidr", list, i)
		if err == nil {
			n.prefix, err = subnet(n.member, string(cidr))
		}
		out = append(out, n)
	}
	for i, n := range c.MachineNetworks {
		add("machine_networks", i, n.CIDR, network{found: n.ClusterID != "" && n.ClusterID == c.ID})
	}
	for i, n := range c.ClusterNetworks {
		add("cluster_networks", i, n.CIDR, network{share: n.HostPrefix})
	}
	for i, n := range c.ServiceNetworks {
		add("service_networks", i, n.CIDR, network{})
	}
	return out, err
}

// subnet reads a network, whose address has to be the first one in it.
func subnet(member, text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil, p.Bits() == 0, p.Addr().IsUnspecified():
		return p, apierror.Value(member, text, "want a network, such as 192.0.2.0/24")
	case p != p.Masked():
		return p, apierror.Value(member, text, "want the network's own address, which is %s", p.Masked())
	}
	return p, nil
}

func networks(c *Cluster) error {
	_, err := networksOf(c)
	return err
}

// leastAddresses is how many bits of addresses a cluster network and a service network of a
// release have at least: fewer, and the fixed addresses of services are outside of them.
const leastAddresses = 7

// largeEnough refuses networks that have no room for what a release puts into them.
func largeEnough(c *Cluster) error {
	all, err := networksOf(c)
	if err != nil || c.OpenshiftVersion == "" {
		return nil //nolint:nilerr // the rule before says it
	}
	for _, n := range all[len(c.MachineNetworks):] {
		if most := n.prefix.Addr().BitLen() - leastAddresses; n.prefix.Bits() > most {
			return apierror.Value(n.member, n.prefix.String(), "has less than %d addresses: want a prefix length of %d at most", 1<<leastAddresses, most)
		}
	}
	return nil
}

// apart refuses networks of which one holds addresses of another.
func apart(c *Cluster) error {
	all, err := networksOf(c)
	if err != nil {
		return nil //nolint:nilerr // the rule before says it
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.prefix.Overlaps(b.prefix) {
				return apierror.Value(a.member, a.prefix.String(), "it overlaps with %s of %s: want networks without common addresses", b.prefix, b.member)
			}
		}
	}
	return nil
}

// ownPrefixes are the network types that come with manifests of their own, which say what
// each host gets of the cluster network.
var ownPrefixes = []string{wire.ClusterNetworkTypeCiscoACI, wire.ClusterNetworkTypeCilium, wire.ClusterNetworkTypeCalico, wire.ClusterNetworkTypeNone}

// hostPrefixes refuses a share of each host in a cluster network that is none.
func hostPrefixes(c *Cluster) error {
	own := slices.Contains(ownPrefixes, wire.Value(c.NetworkType))
	for i, n := range c.ClusterNetworks {
		p, err := netip.ParsePrefix(string(n.CIDR))
		if err != nil || own && n.HostPrefix == 0 {
			continue
		}
		member := fmt.Sprintf("cluster_networks[%d].host_prefix", i)
		switch why := validations.HostPrefix(p, int(n.HostPrefix), 0); {
		case n.HostPrefix == 0:
			return apierror.Field(member, "want how long the prefix of each host is in %s, such as 23 for IPv4; it is 64 for IPv6", p)
		case n.HostPrefix < 1 || n.HostPrefix > int64(p.Addr().BitLen()):
			return apierror.Field(member, "%d: want 1 to %d", n.HostPrefix, p.Addr().BitLen())
		case int(n.HostPrefix) <= p.Bits() && !own:
			return apierror.Field(member, "%d of cluster network %s has to be longer than that of the network: want a longer one", n.HostPrefix, p)
		case why != "" && !own && c.OpenshiftVersion != "": // the limits of a release; a plain Kubernetes has its own
			return apierror.Field(member, "%d of cluster network %s %s", n.HostPrefix, p, why)
		}
	}
	return nil
}

// ipv6First is the first release whose installer takes IPv6 as the first of two families.
const ipv6First = "4.12"

// family names that of an address.
func family(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// order refuses lists of both families of which one begins with another family than the
// rest: the first one decides which address of a node is its own.
func order(c *Cluster) error {
	all, err := networksOf(c)
	if err != nil {
		return nil //nolint:nilerr // another rule says it
	}
	lists := map[string][]netip.Addr{}
	for _, n := range all {
		if !n.found {
			list, _, _ := strings.Cut(n.member, "[")
			lists[list] = append(lists[list], n.prefix.Addr())
		}
	}
	for _, v := range vipsOf(c) {
		lists[v.list] = append(lists[v.list], v.address)
	}
	leading, by := "", ""
	for _, list := range []string{"machine_networks", "cluster_networks", "service_networks", "api_vips", "ingress_vips"} {
		addresses := lists[list]
		if !slices.ContainsFunc(addresses, netip.Addr.Is4) || !slices.ContainsFunc(addresses, func(a netip.Addr) bool { return !a.Is4() }) {
			continue
		}
		kind := family(addresses[0])
		switch {
		case kind == "IPv6" && c.OpenshiftVersion != "" && versions.Older(c.OpenshiftVersion, ipv6First):
			return apierror.Field(list, "begins with IPv6, and release %s wants IPv4 first: change the order", c.OpenshiftVersion)
		case leading != "" && kind != leading:
			return apierror.Field(list, "begins with %s, and %s with %s: want the same family first in each", kind, by, leading)
		}
		leading, by = kind, list
	}
	return nil
}
