package input

import (
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/api/usernetwork"
	"github.com/ironflow/ironflow/hub/apierror"
)

// How many bits of addresses a machine network has at least: room for a host and its router,
// and what the installer of a release wants for several hosts, whose virtual addresses are
// in it, or at a load balancer outside.
const (
	leastMachineBits  = 1
	leastBalancedBits = 2
	leastReleaseBits  = 4
)

// machineBits is that of the cluster's kind.
func machineBits(c *Cluster) int {
	switch {
	case c.OpenshiftVersion == "", isSingle(c):
		return leastMachineBits
	case userBalances(c), usernetwork.Users(platformOf(c), c.UserManagedNetworking):
		return leastBalancedBits
	}
	return leastReleaseBits
}

// machineNetworks are those that a user has given; none where the hub has found one out, which
// is as it is.
func machineNetworks(c *Cluster) []network {
	all, err := networksOf(c)
	machines := all[:len(c.MachineNetworks)]
	if err != nil || slices.ContainsFunc(machines, func(n network) bool { return n.found }) {
		return nil // another rule says what is no network
	}
	return machines
}

// roomForHosts refuses machine networks that the cluster's hosts and virtual addresses do not
// fit into.
func roomForHosts(c *Cluster) error {
	least := machineBits(c)
	room := map[string]int{}
	for _, n := range machineNetworks(c) {
		if most := n.prefix.Addr().BitLen() - least; n.prefix.Bits() > most {
			return apierror.Value(n.member, n.prefix.String(), "has less than %d addresses: want a prefix length of %d at most", 1<<least, most)
		}
		room[family(n.prefix.Addr())] += usable(n.prefix)
	}
	kept := map[netip.Addr]bool{}
	if !userBalances(c) {
		for _, v := range vipsOf(c) {
			kept[v.address] = true
		}
	}
	for _, of := range []string{"IPv4", "IPv6"} {
		virtual := 0
		for a := range kept {
			if family(a) == of {
				virtual++
			}
		}
		if has, is := room[of]; is && has < int(c.ControlPlaneCount)+virtual {
			return apierror.Field("machine_networks", "have %d %s addresses for hosts, and %d of the control plane and %d virtual ones need one each: want a larger network, or another one",
				has, of, c.ControlPlaneCount, virtual)
		}
	}
	return nil
}

// enoughBits are those of more addresses than a control plane has hosts.
const enoughBits = 10

// usable is how many addresses of the network hosts can have: a network of two addresses has no
// others, those of IPv4 have a broadcast address.
func usable(p netip.Prefix) int {
	bits := p.Addr().BitLen() - p.Bits()
	switch {
	case bits > enoughBits:
		return 1 << enoughBits
	case bits <= 1:
		return 1 << bits
	case p.Addr().Is4():
		return 1<<bits - 2
	}
	return 1<<bits - 1
}
