package service

import (
	"context"
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
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

// Instructions notes the poll and returns what the agent does next.
func (h *Hub) Instructions(ctx context.Context, key store.HostKey, p Poll) (wire.Steps, error) {
	var steps wire.Steps
	err := h.update(ctx, func(w *work) error {
		host, err := w.host(key)
		if err != nil {
			return err
		}
		w.checkIn(host, p)
		if err := w.settle(); err != nil {
			return err
		}
		steps, err = w.instructions(host)
		return err
	})
	return steps, err
}

// checkIn notes a sign of life. Only one that may change the status has the
// host looked at again.
func (w *work) checkIn(host *store.Host, p Poll) {
	wasAway := !w.connected(host) || host.API.ConnectionTimedOut ||
		host.API.Status == wire.HostStatusDisconnected || host.API.Status == wire.HostStatusDisconnectedUnbound
	host.API.CheckedInAt = w.at()
	if p.Timestamp != 0 {
		host.API.Timestamp = p.Timestamp
	}
	upgraded := p.AgentVersion != "" && p.AgentVersion != host.API.DiscoveryAgentVersion
	if upgraded {
		host.API.DiscoveryAgentVersion = p.AgentVersion
	}
	if wasAway || upgraded {
		w.touch(host, ChangedHost)
		return
	}
	w.unit.CheckIns = append(w.unit.CheckIns, store.CheckIn{Host: host.Key(), At: w.now, Clock: p.Timestamp})
}

func (w *work) instructions(host *store.Host) (wire.Steps, error) {
	env, err := w.env(host.API.InfraEnvID)
	if err != nil {
		return wire.Steps{}, err
	}
	c, err := w.clusterOf(host)
	if err != nil {
		return wire.Steps{}, err
	}
	in := instructions.Input{
		Host: &host.API, Inventory: inventoryOf(host), InfraEnv: &env.API, Images: w.imagesFor(host),
		ImagesChecked: w.imageCheck(host) == hostmachine.Passed, DiskCheckTimeout: diskCheckTimeout, ImageTimeout: imageTimeout,
		Hurry: w.hurry(host, c),
	}
	if c != nil {
		in.Cluster, in.DiskChecked = &c.API, w.diskCheck(host, c) == hostmachine.Passed
		if in.Peers, err = w.peers(host, c); err != nil {
			return wire.Steps{}, err
		}
	}
	steps, skipped := instructions.For(in)
	for _, s := range skipped {
		w.lines = append(w.lines, line{"a step could not be built and was left out", []any{"host", host.API.ID, "step", s.Type, "error", s.Err}})
	}
	return steps, nil
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

// peers are the cluster's other hosts that can be asked for, with their addresses.
func (w *work) peers(host *store.Host, c *store.Cluster) (wire.ConnectivityCheckParams, error) {
	hosts, err := w.hostsOf(c.API.ID)
	if err != nil {
		return nil, err
	}
	away := []string{wire.HostStatusDiscovering, wire.HostStatusDisconnected, wire.HostStatusBinding}
	var peers wire.ConnectivityCheckParams
	for _, o := range hosts {
		inventory := inventoryOf(o)
		if o.Key() == host.Key() || inventory == nil || slices.Contains(away, o.API.Status) {
			continue
		}
		peer := wire.ConnectivityCheckHost{HostID: o.API.ID}
		for _, nic := range inventory.Interfaces {
			addresses := plainAddresses(slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses))
			if len(addresses) > 0 {
				peer.Nics = append(peer.Nics, wire.ConnectivityCheckNIC{Name: nic.Name, MAC: nic.MACAddress, IPAddresses: addresses})
			}
		}
		peers = append(peers, peer)
	}
	return peers, nil
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
