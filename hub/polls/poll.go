package polls

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// Poll is what an agent says when it asks for instructions.
type Poll struct {
	// Timestamp is the host's clock in Unix seconds; zero when it does not say.
	Timestamp int64
	// AgentVersion is the agent's image reference; empty keeps the known one.
	AgentVersion string
}

// Answerer answers polls. All methods are safe for concurrent use.
type Answerer struct {
	units    *settle.Units
	cache    *snapshots.Cache
	checkIns *CheckIns
	// artifacts are the parts of an infra-env's live image; nil without an image server.
	artifacts func(*store.InfraEnv) (*wire.DownloadBootArtifactsRequest, error)
	// all are the hosts that poll, hurried those of them that are on their way to an installation.
	all, hurried pollers
	// pulls are the hosts that pull images.
	pulls throttle
	// behind is how long the hub takes for what it has to do.
	behind func() time.Duration
}

// New makes an answerer over the cache and the signs of life, which it shares with others. artifacts
// says where the parts of an infra-env's live image are; nil without an image server.
func New(units *settle.Units, cache *snapshots.Cache, signs *CheckIns, artifacts func(*store.InfraEnv) (*wire.DownloadBootArtifactsRequest, error)) *Answerer {
	return &Answerer{units: units, cache: cache, checkIns: signs, artifacts: artifacts, behind: units.BehindBy}
}

// Instructions notes the poll and returns what the agent does next. The answer
// comes from memory, and only a poll that changes the host's record writes. An order
// that costs what is on a disk is read from the store first: memory hears of what another
// replica calls off when the database announces it, which may be late.
func (d *Answerer) Instructions(ctx context.Context, key store.HostKey, p Poll) (wire.Steps, error) {
	s, err := d.Snapshot(ctx, key)
	if err != nil {
		return wire.Steps{}, err
	}
	if now := d.units.Now().UTC(); d.isNews(s, p, now) {
		err := d.units.Update(ctx, func(w *settle.Work) error {
			host, err := w.Host(key)
			if err != nil {
				return err
			}
			checkIn(w, host, p)
			return nil
		})
		if err != nil {
			return wire.Steps{}, err
		}
		if s, err = d.Snapshot(ctx, key); err != nil {
			return wire.Steps{}, err
		}
	} else {
		d.checkIns.Note(key, now, p.Timestamp)
	}
	if s, err = d.confirmed(ctx, s); err != nil {
		return wire.Steps{}, err
	}
	steps, err := instructions.Complete(d.putOff(s.Steps, s, d.units.Now()), func() (string, error) { return d.peers(ctx, s) })
	return d.spread(steps, s, d.units.Now()), err
}

// confirmed returns the snapshot as it is by the store where it orders what cannot be undone,
// and the snapshot itself where it does not.
func (d *Answerer) confirmed(ctx context.Context, s *snapshots.Host) (*snapshots.Host, error) {
	if !slices.ContainsFunc(s.Steps.Instructions, func(step wire.Step) bool { return instructions.Destructive(step.StepType) }) {
		return s, nil
	}
	return d.read(ctx, s.Key)
}

// isNews reports whether a poll changes more than the time of the last one.
func (d *Answerer) isNews(s *snapshots.Host, p Poll, now time.Time) bool {
	if s.Away || p.AgentVersion != "" && p.AgentVersion != s.Agent {
		return true
	}
	since := s.CheckedInAt
	if c, heard := d.checkIns.Last(s.Key); heard && c.At.After(since) {
		since = c.At
	}
	return s.Patience > 0 && d.units.Evaluator(now).Silent(since) > s.Patience
}

// checkIn notes a sign of life in the host's record.
func checkIn(w *settle.Work, host *store.Host, p Poll) {
	host.API.CheckedInAt = w.At()
	if p.Timestamp != 0 {
		host.API.Timestamp = p.Timestamp
	}
	if p.AgentVersion != "" {
		host.API.DiscoveryAgentVersion = p.AgentVersion
	}
	w.Touch(host, store.ChangedHost)
}

// awayFrom are the statuses in which peers are not told of a host.
var awayFrom = []string{wire.HostStatusDiscovering, wire.HostStatusDisconnected, wire.HostStatusBinding}

// mostPeerAddresses bounds what peers are told of a host, and ask it for, with each of their polls.
const mostPeerAddresses = 256

// peerOf is how peers are told of a host: its addresses, or as many as a machine has of them. Nothing for one that
// they cannot ask for.
func peerOf(host *store.Host, inventory *wire.Inventory) []byte {
	if inventory == nil || slices.Contains(awayFrom, host.API.Status) {
		return nil
	}
	peer := wire.ConnectivityCheckHost{HostID: host.API.ID}
	left := mostPeerAddresses
	for _, nic := range inventory.Interfaces {
		addresses := plainAddresses(slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses))
		addresses = addresses[:min(len(addresses), left)]
		left -= len(addresses)
		if len(addresses) > 0 {
			peer.Nics = append(peer.Nics, wire.ConnectivityCheckNIC{Name: nic.Name, MAC: nic.MACAddress, IPAddresses: addresses})
		}
	}
	return []byte(unit.Text(peer))
}

// plainAddresses cuts the prefix lengths off.
func plainAddresses(prefixes []string) []string {
	var out []string
	for _, text := range prefixes {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p.Addr().String())
		}
	}
	return out
}
