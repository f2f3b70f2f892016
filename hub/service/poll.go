package service

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Poll is what an agent says when it asks for instructions.
type Poll struct {
	// Timestamp is the host's clock in Unix seconds; zero when it does not say.
	Timestamp int64
	// AgentVersion is the agent's image reference; empty keeps the known one.
	AgentVersion string
}

// Instructions notes the poll and returns what the agent does next. The answer
// comes from memory, and only a poll that changes the host's record writes.
func (h *Hub) Instructions(ctx context.Context, key store.HostKey, p Poll) (wire.Steps, error) {
	s, err := h.snapshot(ctx, key)
	if err != nil {
		return wire.Steps{}, err
	}
	if now := h.now().UTC(); h.isNews(s, p, now) {
		err := h.update(ctx, func(w *work) error {
			host, err := w.host(key)
			if err != nil {
				return err
			}
			w.checkIn(host, p)
			return nil
		})
		if err != nil {
			return wire.Steps{}, err
		}
		if s, err = h.snapshot(ctx, key); err != nil {
			return wire.Steps{}, err
		}
	} else {
		h.checkIns.Note(key, now, p.Timestamp)
	}
	return instructions.Complete(s.Steps, func() ([]byte, error) { return h.peers(ctx, s) })
}

// isNews reports whether a poll changes more than the time of the last one.
func (h *Hub) isNews(s *snapshots.Host, p Poll, now time.Time) bool {
	if s.Away || p.AgentVersion != "" && p.AgentVersion != s.Agent {
		return true
	}
	since := s.CheckedInAt
	if c, heard := h.checkIns.Last(s.Key); heard && c.At.After(since) {
		since = c.At
	}
	return s.Patience > 0 && h.silent(since, now) > s.Patience
}

// checkIn notes a sign of life in the host's record.
func (w *work) checkIn(host *store.Host, p Poll) {
	host.API.CheckedInAt = w.at()
	if p.Timestamp != 0 {
		host.API.Timestamp = p.Timestamp
	}
	if p.AgentVersion != "" {
		host.API.DiscoveryAgentVersion = p.AgentVersion
	}
	w.touch(host, ChangedHost)
}

// hurry tells that the host is asked to come back soon: it is on its way to an
// installation, not waiting for a person.
func (w *work) hurry(host *store.Host, c *store.Cluster) bool {
	switch host.API.Status {
	case wire.HostStatusKnown:
		return c != nil && (c.AutoInstall && host.Approved && !c.Hold || c.API.Status == wire.ClusterStatusPreparingForInstallation)
	case wire.HostStatusInstallingInProgress, wire.HostStatusError, wire.HostStatusCancelled:
		return false
	}
	return true
}

// awayFrom are the statuses in which peers are not told of a host.
var awayFrom = []string{wire.HostStatusDiscovering, wire.HostStatusDisconnected, wire.HostStatusBinding}

// peerOf is how peers are told of a host: its addresses. Nothing for one that
// they cannot ask for.
func peerOf(host *store.Host, inventory *wire.Inventory) []byte {
	if inventory == nil || slices.Contains(awayFrom, host.API.Status) {
		return nil
	}
	peer := wire.ConnectivityCheckHost{HostID: host.API.ID}
	for _, nic := range inventory.Interfaces {
		addresses := plainAddresses(slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses))
		if len(addresses) > 0 {
			peer.Nics = append(peer.Nics, wire.ConnectivityCheckNIC{Name: nic.Name, MAC: nic.MACAddress, IPAddresses: addresses})
		}
	}
	return []byte(mustJSON(peer))
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
