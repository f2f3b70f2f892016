package validations

import (
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/hub/connectivity"
)

func inMajority(in HostInput) verdict {
	if in.unread(theConnectivity) {
		return unreadable(theConnectivity)
	}
	if have := len(in.Cluster.Members); have < in.Cluster.Least() {
		return wait("Waiting for more hosts: %d of the %d that a group needs are there", have, in.Cluster.Least())
	}
	if in.Links == nil {
		return wait("Waiting for the host to look for the others")
	}
	networks := in.majorityNetworks()
	if len(networks) == 0 {
		return wait("Waiting for the cluster's machine network")
	}
	var outside []string
	for _, n := range networks {
		if !slices.Contains(in.Cluster.Groups[n], in.Host.ID) {
			outside = append(outside, n)
		}
	}
	if in.Cluster.UserManaged() && len(outside) < len(networks) {
		outside = nil // one family is enough to talk
	}
	if len(outside) > 0 {
		return fail("The host is not among those that all reach one another in %s; compare cabling, VLAN and firewall with a host that is", list(outside))
	}
	return pass("The host reaches the others, and they reach it")
}

// majorityNetworks are the networks that the host has to reach the others in.
func (in HostInput) majorityNetworks() []string {
	if in.Cluster.UserManaged() {
		return []string{connectivity.IPv4, connectivity.IPv6}
	}
	var out []string
	for _, p := range in.Cluster.MachineNetworks {
		out = append(out, p.String())
	}
	return out
}

// peers looks at what the host reported of each host of its cluster, or of those of its role.
func (in HostInput) peers(role bool, bad func(Peer) string) (found []string, v *verdict) {
	if in.unread(theConnectivity) {
		broken := unreadable(theConnectivity)
		return nil, &broken
	}
	if in.Links == nil {
		waiting := wait("Waiting for the host to look for the others")
		return nil, &waiting
	}
	for _, p := range in.Links.Peers {
		peer, member := in.Cluster.Roles[p.ID]
		if !member || role && peer != in.Role() {
			continue
		}
		if text := bad(p); text != "" {
			found = append(found, in.Cluster.Labels[p.ID]+" ("+text+")")
		}
	}
	return found, nil
}

func latencyLow(in HostInput) verdict {
	if in.Needs.LatencyMs == nil {
		return pass("Its role has no limit")
	}
	limit := *in.Needs.LatencyMs
	slow, v := in.peers(true, func(p Peer) string {
		if p.RttMs > limit {
			return fmt.Sprintf("%.1f ms", p.RttMs)
		}
		return ""
	})
	switch {
	case v != nil:
		return *v
	case len(slow) > 0:
		return fail("The round trip to %s is longer than %g ms; bring the hosts closer together, or look for load on the network", list(slow), limit)
	}
	return pass("All round trips take at most %g ms", limit)
}

func lossLow(in HostInput) verdict {
	if in.Needs.LossPercent == nil {
		return pass("Its role has no limit")
	}
	limit := *in.Needs.LossPercent
	lossy, v := in.peers(true, func(p Peer) string {
		if p.LossPercent > limit {
			return fmt.Sprintf("%g %%", p.LossPercent)
		}
		return ""
	})
	switch {
	case v != nil:
		return *v
	case len(lossy) > 0:
		return fail("More than %g %% of the packets to %s get lost; look for broken cables, duplex and load on the network", limit, list(lossy))
	}
	return pass("At most %g %% of the packets get lost", limit)
}

func mtuFits(in HostInput) verdict {
	stuck, v := in.peers(false, func(p Peer) string { return p.Stuck })
	switch {
	case v != nil:
		return *v
	case len(stuck) > 0:
		return fail("Packets of full size do not reach %s; set the same MTU on hosts and switches", list(stuck))
	}
	return pass("Packets of full size reach the other hosts")
}

func addressesUnique(in HostInput) verdict {
	for _, a := range in.addresses() {
		address := a.prefix.Addr().String()
		if macs := in.Cluster.Strangers[address]; len(macs) > 0 {
			return fail("Address %s of %s is also used by a device with MAC %s; give that device another address", address, a.nic, list(macs))
		}
	}
	return pass("Nobody else answers for the host's addresses")
}
