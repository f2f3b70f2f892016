package validations

import (
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

func apiVIPsSet(in ClusterInput) verdict { return vipsSet(in, "api_vips", in.APIVIPs) }

func ingressVIPsSet(in ClusterInput) verdict { return vipsSet(in, "ingress_vips", in.IngressVIPs) }

func vipsSet(in ClusterInput, setting string, vips []VIP) verdict {
	if in.asksDHCP() && len(vips) == 0 {
		return wait("Waiting for the hosts to get %s by DHCP", setting)
	}
	return passIf(len(vips) > 0, setting+" is set", "Set "+setting+": the cluster needs an unused address of its machine network")
}

func apiVIPsValid(in ClusterInput) verdict {
	return vipsValid(in, "api_vips", in.APIVIPs, in.IngressVIPs)
}

func ingressVIPsValid(in ClusterInput) verdict {
	return vipsValid(in, "ingress_vips", in.IngressVIPs, in.APIVIPs)
}

// maxVIPs is one address of each family.
const maxVIPs = 2

func vipsValid(in ClusterInput, setting string, vips, others []VIP) verdict {
	if len(vips) == 0 {
		return wait("Waiting for %s", setting)
	}
	if len(vips) > maxVIPs || len(vips) == maxVIPs && vips[0].Address.Is4() == vips[1].Address.Is4() {
		return fail("%s has more than one address of a family; keep one of each", setting)
	}
	waiting := pass("%s can be used", setting)
	for _, v := range vips {
		if !v.Address.IsValid() {
			return fail("%q of %s is no address; correct it", v.Text, setting)
		}
		if in.userBalances() {
			continue // such an address may lie anywhere, and answers already
		}
		switch verdict := freeIn(in, v, others); verdict.status {
		case Failure:
			return verdict
		case Pending:
			waiting = verdict
		}
	}
	return waiting
}

// freeIn checks one address of the cluster's own.
func freeIn(in ClusterInput, v VIP, others []VIP) verdict {
	i := slices.IndexFunc(in.MachineNetworks, func(n netip.Prefix) bool { return n.Contains(v.Address) })
	switch {
	case len(in.MachineNetworks) == 0:
		return wait("Waiting for the machine network of %s", v.Text)
	case i < 0:
		return fail("%s is in no machine network; use an address of one of them, or correct machine_networks", v.Text)
	case Reserved(in.MachineNetworks[i], v.Address):
		return fail("%s is the network or broadcast address of %s; use another one", v.Text, in.MachineNetworks[i])
	case slices.ContainsFunc(others, func(o VIP) bool { return o.Address == v.Address }):
		return fail("%s is both an API and an ingress address; use two", v.Text)
	case v.Verified == wire.VIPVerificationFailed:
		return fail("%s is used by somebody already; use another address, or switch off what has it", v.Text)
	case v.Verified != wire.VIPVerificationSucceeded:
		return wait("Waiting for a host to see whether %s is free", v.Text)
	}
	return pass("%s is free", v.Text)
}

// Reserved tells that the address is the network's own, or the one for all of its hosts.
func Reserved(n netip.Prefix, a netip.Addr) bool { return a == n.Addr() || a == broadcast(n) }

// broadcast is the last address of an IPv4 network; not valid for IPv6, which has none.
func broadcast(n netip.Prefix) netip.Addr {
	if !n.Addr().Is4() || n.Bits() >= 31 {
		return netip.Addr{}
	}
	raw := n.Masked().Addr().As4()
	for bit := n.Bits(); bit < 32; bit++ {
		raw[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(raw)
}
