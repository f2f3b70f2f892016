package connectivity

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// pretend answers that every host is reachable.
func pretend(ctx context.Context, env probe.Env, hosts wire.ConnectivityCheckParams) steps.Result {
	own, err := env.Interfaces(ctx)
	if err != nil {
		return steps.Failed(steps.ExitBad, "own interfaces: %v", err)
	}
	report := wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{}}
	for _, host := range hosts {
		report.RemoteHosts = append(report.RemoteHosts, reachable(own, host))
	}
	slices.SortFunc(report.RemoteHosts, func(a, b wire.ConnectivityRemoteHost) int { return cmp.Compare(a.HostID, b.HostID) })
	return steps.JSON(report)
}

// reachable is the result for a host that answers on every address.
func reachable(own []wire.Interface, host wire.ConnectivityCheckHost) wire.ConnectivityRemoteHost {
	out := wire.ConnectivityRemoteHost{
		HostID: host.HostID, L2Connectivity: []wire.L2Connectivity{}, L3Connectivity: []wire.L3Connectivity{}, MTUReport: []wire.MTUReport{},
	}
	for _, nic := range host.Nics {
		for _, address := range nic.IPAddresses {
			out.L3Connectivity = append(out.L3Connectivity, wire.L3Connectivity{RemoteIPAddress: address, Successful: true, AverageRttMs: 0.3})
			if through, from, ok := sameNetwork(own, netip.MustParseAddr(address)); ok {
				l2 := wire.L2Connectivity{OutgoingNIC: through, RemoteIPAddress: address, RemoteMAC: strings.ToLower(nic.MAC), Successful: true}
				if from.Is4() {
					l2.OutgoingIPAddress = from.String()
				}
				out.L2Connectivity = append(out.L2Connectivity, l2)
			}
		}
	}
	slices.SortFunc(out.L3Connectivity, func(a, b wire.L3Connectivity) int { return cmp.Compare(a.RemoteIPAddress, b.RemoteIPAddress) })
	slices.SortFunc(out.L2Connectivity, func(a, b wire.L2Connectivity) int {
		return cmp.Or(cmp.Compare(a.RemoteIPAddress, b.RemoteIPAddress), cmp.Compare(a.RemoteMAC, b.RemoteMAC))
	})
	return out
}

// sameNetwork finds the own interface whose network holds the address.
func sameNetwork(own []wire.Interface, remote netip.Addr) (nic string, address netip.Addr, ok bool) {
	for _, i := range own {
		for _, cidr := range slices.Concat(i.Ipv4Addresses, i.Ipv6Addresses) {
			if p, err := netip.ParsePrefix(cidr); err == nil && p.Contains(remote) {
				return i.Name, p.Addr(), true
			}
		}
	}
	return "", netip.Addr{}, false
}
