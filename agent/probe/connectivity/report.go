package connectivity

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/ironflow/ironflow/agent/probe/netprobe"
	"github.com/ironflow/ironflow/hub/wire"
)

// report sorts what was found by host. Everything has a fixed order, so that
// unchanged results stay equal.
func (f *findings) report(hosts wire.ConnectivityCheckParams) []wire.ConnectivityRemoteHost {
	out := make([]wire.ConnectivityRemoteHost, 0, len(hosts))
	index := f.index()
	for _, host := range hosts {
		out = append(out, f.host(host, index))
	}
	slices.SortStableFunc(out, func(a, b wire.ConnectivityRemoteHost) int { return cmp.Compare(a.HostID, b.HostID) })
	return out
}

// index lists the probes of each remote address.
type index struct {
	neighbors map[netip.Addr][]neighborProbe
	mtus      map[netip.Addr][]mtuProbe
}

func (f *findings) index() index {
	out := index{map[netip.Addr][]neighborProbe{}, map[netip.Addr][]mtuProbe{}}
	for _, p := range f.neighbors {
		out.neighbors[p.remote] = append(out.neighbors[p.remote], p)
	}
	for _, p := range f.mtus {
		out.mtus[p.remote] = append(out.mtus[p.remote], p)
	}
	return out
}

func (f *findings) host(host wire.ConnectivityCheckHost, index index) wire.ConnectivityRemoteHost {
	out := wire.ConnectivityRemoteHost{
		HostID: host.HostID, L2Connectivity: []wire.L2Connectivity{}, L3Connectivity: []wire.L3Connectivity{}, MTUReport: []wire.MTUReport{},
	}
	macs := macsOf(host)
	for _, address := range remotes(host) {
		if echo, ok := f.echoed[address.addr]; ok {
			out.L3Connectivity = append(out.L3Connectivity, l3(address.text, echo))
		}
		for _, p := range index.neighbors[address.addr] {
			out.L2Connectivity = append(out.L2Connectivity, f.l2(p, address.text, macs)...)
		}
		for _, p := range index.mtus[address.addr] {
			if fits, ok := f.fits[p]; ok {
				out.MTUReport = append(out.MTUReport, wire.MTUReport{OutgoingNIC: p.nic, RemoteIPAddress: address.text, MTUSuccessful: fits})
			}
		}
	}
	slices.SortFunc(out.L3Connectivity, func(a, b wire.L3Connectivity) int { return cmp.Compare(a.RemoteIPAddress, b.RemoteIPAddress) })
	slices.SortFunc(out.L2Connectivity, func(a, b wire.L2Connectivity) int {
		return cmp.Or(cmp.Compare(a.RemoteIPAddress, b.RemoteIPAddress), cmp.Compare(a.RemoteMAC, b.RemoteMAC), cmp.Compare(a.OutgoingNIC, b.OutgoingNIC))
	})
	slices.SortFunc(out.MTUReport, func(a, b wire.MTUReport) int {
		return cmp.Or(cmp.Compare(a.RemoteIPAddress, b.RemoteIPAddress), cmp.Compare(a.OutgoingNIC, b.OutgoingNIC))
	})
	return out
}

// l3 tells of loss and time only where something came back, as every agent of
// this protocol does.
func l3(address string, echo netprobe.EchoResult) wire.L3Connectivity {
	out := wire.L3Connectivity{RemoteIPAddress: address}
	if echo.Received > 0 {
		// Three decimals, as ping prints them.
		out.AverageRttMs = float64(max(echo.RTT.Round(time.Microsecond), time.Microsecond).Microseconds()) / 1000
		out.PacketLossPercentage, out.Successful = echo.Loss(), true
	}
	return out
}

// l2 has an entry for each owner of an IPv4 address, so that hubs see conflicts,
// and for the first one of an IPv6 address. It is successful if the owner is the
// host.
func (f *findings) l2(p neighborProbe, address string, macs map[netprobe.MAC]bool) []wire.L2Connectivity {
	owners, source := f.owners[p], ""
	if p.remote.Is4() {
		source = f.sources[p].String()
	} else {
		owners = owners[:min(len(owners), 1)]
	}
	var out []wire.L2Connectivity
	for _, owner := range owners {
		out = append(out, wire.L2Connectivity{
			OutgoingNIC: p.nic, OutgoingIPAddress: source, RemoteIPAddress: address, RemoteMAC: owner.String(), Successful: macs[owner],
		})
	}
	return out
}

// macsOf is the set of a host's MACs.
func macsOf(host wire.ConnectivityCheckHost) map[netprobe.MAC]bool {
	out := map[netprobe.MAC]bool{}
	for _, nic := range host.Nics {
		if mac, err := net.ParseMAC(nic.MAC); err == nil && len(mac) == len(netprobe.MAC{}) {
			out[netprobe.MAC(mac)] = true
		}
	}
	return out
}
