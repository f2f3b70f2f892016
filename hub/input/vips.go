package input

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// vip is a virtual address with where it stands.
type vip struct {
	list, member string
	address      netip.Addr
}

// vipsOf are those of the cluster that are addresses.
func vipsOf(c *Cluster) (out []vip) {
	add := func(list string, i int, ip wire.IP) {
		if a, err := netip.ParseAddr(string(ip)); err == nil {
			out = append(out, vip{list, fmt.Sprintf("%s[%d].ip", list, i), a.Unmap()})
		}
	}
	for i, v := range c.APIVIPs {
		add("api_vips", i, v.IP)
	}
	for i, v := range c.IngressVIPs {
		add("ingress_vips", i, v.IP)
	}
	return out
}

// addresses refuses virtual addresses that nobody can have.
func addresses(c *Cluster) error {
	check := func(list string, i int, ip wire.IP) error {
		a, err := netip.ParseAddr(string(ip))
		if err != nil || a.Zone() != "" || a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() || a.IsLinkLocalUnicast() {
			return apierror.Value(fmt.Sprintf("%s[%d].ip", list, i), string(ip), "want an IP address of the machine network that nobody has, such as 192.0.2.10")
		}
		return nil
	}
	for i, v := range c.APIVIPs {
		if err := check("api_vips", i, v.IP); err != nil {
			return err
		}
	}
	for i, v := range c.IngressVIPs {
		if err := check("ingress_vips", i, v.IP); err != nil {
			return err
		}
	}
	return nil
}

// userBalances tells that the addresses are those of a load balancer outside, which may
// be one and the same, and lie anywhere.
func userBalances(c *Cluster) bool {
	return c.LoadBalancer != nil && c.LoadBalancer.Type == wire.LoadBalancerTypeUserManaged
}

// maxVIPs is one address of each family.
const maxVIPs = 2

// pairs refuses virtual addresses that do not go together.
func pairs(c *Cluster) error {
	byList := map[string][]vip{}
	var all []vip
	for _, v := range vipsOf(c) {
		others := byList[v.list]
		switch {
		case len(others) == maxVIPs:
			return apierror.Field(v.list, "has more than %d addresses: want one, or one of IPv4 and one of IPv6", maxVIPs)
		case slices.ContainsFunc(others, func(o vip) bool { return o.address == v.address }):
			return apierror.Value(v.member, v.address.String(), "is there twice: want one, or one of IPv4 and one of IPv6")
		case slices.ContainsFunc(others, func(o vip) bool { return o.address.Is4() == v.address.Is4() }):
			return apierror.Value(v.member, v.address.String(), "is the second of %s: want one of each family at most", family(v.address))
		case !userBalances(c) && slices.ContainsFunc(all, func(o vip) bool { return o.address == v.address }):
			return apierror.Value(v.member, v.address.String(), "is one of api_vips, too: want another address, or load_balancer user-managed")
		}
		byList[v.list], all = append(others, v), append(all, v)
	}
	api, ingress := byList["api_vips"], byList["ingress_vips"]
	if len(api) > 0 && len(ingress) > 0 && len(api) != len(ingress) {
		return apierror.Field("ingress_vips", "has %d addresses, and api_vips %d: want as many of each", len(ingress), len(api))
	}
	return nil
}

// inside refuses virtual addresses outside of the machine networks that a user has given.
// Where the hub finds those out by its hosts, the check api-vips-valid says it later.
func inside(c *Cluster) error {
	all, err := networksOf(c)
	if err != nil || userBalances(c) {
		return nil //nolint:nilerr // another rule says it
	}
	var machines []netip.Prefix
	for _, n := range all[:len(c.MachineNetworks)] {
		if n.found {
			return nil
		}
		machines = append(machines, n.prefix)
	}
	for _, v := range vipsOf(c) {
		i := slices.IndexFunc(machines, func(n netip.Prefix) bool { return n.Contains(v.address) })
		switch {
		case len(machines) == 0:
		case i < 0:
			return apierror.Value(v.member, v.address.String(), "is in none of machine_networks, %v: want an address of one, or another network", machines)
		case validations.Reserved(machines[i], v.address):
			return apierror.Value(v.member, v.address.String(), "is the network or broadcast address of %s: want another one", machines[i])
		}
	}
	return nil
}
