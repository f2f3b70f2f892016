package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// maxRemotes bounds the hosts of one connectivity step.
const maxRemotes = 10_000

// connectivity tells which other hosts of the cluster can be reached.
var connectivity = kind[wire.ConnectivityCheckParams]{
	deadline: 35 * time.Second,
	validate: func(hosts wire.ConnectivityCheckParams) error {
		if len(hosts) > maxRemotes {
			return fmt.Errorf("%d hosts are more than %d", len(hosts), maxRemotes)
		}
		for i, host := range hosts {
			if _, err := uuid.Parse(host.HostID); err != nil {
				return fmt.Errorf("host %d: id %q is not a UUID", i, host.HostID)
			}
			for _, nic := range host.Nics {
				if _, err := net.ParseMAC(nic.MAC); err != nil && nic.MAC != "" {
					return fmt.Errorf("host %s: %q is not a MAC address", host.HostID, nic.MAC)
				}
				for _, address := range nic.IPAddresses {
					if _, err := netip.ParseAddr(address); err != nil {
						return fmt.Errorf("host %s: %q is not an address", host.HostID, address)
					}
				}
			}
		}
		return nil
	},
	dry: func(ctx context.Context, env Env, hosts wire.ConnectivityCheckParams) steps.Result {
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
	},
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

// smallest network and number of addresses of a free-addresses scan.
const (
	smallestBits = 22
	maxAddresses = 8000
)

// freeAddresses tells which addresses of the host's networks nobody answers for.
var freeAddresses = kind[wire.FreeAddressesRequest]{
	deadline: 2 * time.Minute,
	validate: func(networks wire.FreeAddressesRequest) error {
		if len(networks) == 0 || len(networks) > 64 {
			return fmt.Errorf("%d networks, want 1 to 64", len(networks))
		}
		for _, cidr := range networks {
			p, err := netip.ParsePrefix(cidr)
			if err != nil || !p.Addr().Is4() || p.Masked() != p || p.Bits() < smallestBits {
				return fmt.Errorf("%q is not an IPv4 network of /%d or smaller", cidr, smallestBits)
			}
		}
		return nil
	},
	dry: func(_ context.Context, _ Env, networks wire.FreeAddressesRequest) steps.Result {
		out, left := wire.FreeNetworksAddresses{}, maxAddresses
		for _, cidr := range networks {
			p := netip.MustParsePrefix(cidr)
			free := []string{}
			for a := p.Addr(); p.Contains(a) && left > 0; a = a.Next() {
				free = append(free, a.String())
				left--
			}
			out = append(out, wire.FreeNetworkAddresses{Network: cidr, FreeAddresses: free})
		}
		return steps.JSON(out)
	},
}

// vips tells whether virtual addresses are still unused.
var vips = kind[wire.VerifyVIPsRequest]{
	deadline: 30 * time.Second,
	validate: func(vips wire.VerifyVIPsRequest) error {
		if len(vips) > 16 {
			return errors.New("more than 16 addresses")
		}
		for _, v := range vips {
			if _, err := netip.ParseAddr(string(v.VIP)); err != nil {
				return fmt.Errorf("%q is not an address", v.VIP)
			}
			if v.VIPType != wire.VIPTypeAPI && v.VIPType != wire.VIPTypeIngress {
				return fmt.Errorf("vip_type %q is neither api nor ingress", v.VIPType)
			}
		}
		return nil
	},
	dry: func(_ context.Context, _ Env, vips wire.VerifyVIPsRequest) steps.Result {
		out := wire.VerifyVIPsResponse{}
		for _, v := range vips {
			succeeded := wire.VIPVerificationSucceeded
			out = append(out, wire.VerifiedVIP{VIP: v.VIP, VIPType: v.VIPType, Verification: &succeeded})
		}
		return steps.JSON(out)
	},
}
