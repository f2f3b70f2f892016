package validations

import (
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// Links are what the checks need of a host's connectivity report. They are small,
// so that they can be kept in memory for each host of a cluster of 500.
type Links struct {
	// Peers are those that something may be wrong with, in the report's order.
	Peers     []Peer
	Strangers []Stranger
}

// Peer is how a host reaches another one.
type Peer struct {
	ID string
	// RttMs and LossPercent are the worst of all addresses.
	RttMs, LossPercent float64
	// Stuck says where packets of full size do not get through; empty for nowhere.
	Stuck string
}

// fastMs is a round trip that no requirement minds, in milliseconds. Peers that
// are nearer, and lose nothing, are left out of [Links].
const fastMs = 1

// linksOf digests a report.
func linksOf(report *wire.ConnectivityReport) *Links {
	l := &Links{Strangers: strangersOf(report)}
	for _, remote := range report.RemoteHosts {
		p := Peer{ID: remote.HostID}
		for _, l3 := range remote.L3Connectivity {
			p.RttMs, p.LossPercent = max(p.RttMs, l3.AverageRttMs), max(p.LossPercent, l3.PacketLossPercentage)
		}
		for _, m := range remote.MTUReport {
			if !m.MTUSuccessful {
				p.Stuck = m.OutgoingNIC + " to " + m.RemoteIPAddress
				break
			}
		}
		if p.RttMs > fastMs || p.LossPercent > 0 || p.Stuck != "" {
			l.Peers = append(l.Peers, p)
		}
	}
	return l
}

// maxStrangers bounds what one host's report says of strangers: all hosts of its
// cluster are checked with it.
const maxStrangers = 1000

func strangersOf(report *wire.ConnectivityReport) []Stranger {
	var out []Stranger
	known := map[Stranger]bool{}
	for _, remote := range report.RemoteHosts {
		for _, l2 := range remote.L2Connectivity {
			s := Stranger{l2.RemoteIPAddress, strings.ToLower(l2.RemoteMAC)}
			if l2.Successful || s.MAC == "" || known[s] {
				continue
			}
			if len(out) == maxStrangers {
				return out
			}
			known[s] = true
			out = append(out, s)
		}
	}
	return out
}
