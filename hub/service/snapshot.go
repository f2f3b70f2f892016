package service

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// snapshot returns what the host's polls are answered from; it is made of the
// records where there is none.
func (h *Hub) snapshot(ctx context.Context, key store.HostKey) (*snapshots.Host, error) {
	if s := h.cache.Host(key); s != nil {
		return s, nil
	}
	since := h.cache.Now()
	var s *snapshots.Host
	err := h.view(ctx, func(r *store.Reader) error {
		w := newWork(ctx, h, r)
		host, err := w.host(key)
		if err != nil {
			return err
		}
		s, err = w.snapshotOf(host)
		return err
	})
	if err != nil {
		return nil, err
	}
	h.cache.Put(s, since)
	return s, nil
}

// snapshotOf makes the snapshot of a host: all that is decoded of it is decoded here.
func (w *work) snapshotOf(host *store.Host) (*snapshots.Host, error) {
	env, err := w.env(host.API.InfraEnvID)
	if err != nil {
		return nil, err
	}
	c, err := w.clusterOf(host)
	if err != nil {
		return nil, err
	}
	inventory := inventoryOf(host)
	in := instructions.Input{
		Host: &host.API, Inventory: inventory, InfraEnv: &env.API, Images: w.imagesFor(host),
		ImagesChecked: w.imageCheck(host) == hostmachine.Passed, DiskCheckTimeout: diskCheckTimeout, ImageTimeout: imageTimeout,
		Hurry: w.hurry(host, c),
	}
	if c != nil {
		in.Cluster, in.DiskChecked, in.HasPeers = &c.API, w.diskCheck(host, c) == hostmachine.Passed, !singleNode(c)
	}
	steps, skipped := instructions.For(in)
	for _, s := range skipped {
		w.hub.log.Info("a step could not be built and was left out", "host", host.API.ID, "step", s.Type, "error", s.Err)
	}
	s := &snapshots.Host{
		Key: host.Key(), ClusterID: host.ClusterID(), Steps: steps, Peer: peerOf(host, inventory), Agent: host.API.DiscoveryAgentVersion,
		CheckedInAt: host.API.CheckedInAt.Time, Patience: w.hub.timers.silence(host.API.Bootstrap),
		Away: host.API.ConnectionTimedOut || host.API.Status == wire.HostStatusDisconnected || host.API.Status == wire.HostStatusDisconnectedUnbound,
	}
	if pastReboot(host.Stage()) {
		s.Patience = 0
	}
	return s, nil
}

// peers returns the other hosts of the host's cluster for its connectivity check.
func (h *Hub) peers(ctx context.Context, s *snapshots.Host) ([]byte, error) {
	list := func() (keys []store.HostKey, err error) {
		err = h.view(ctx, func(r *store.Reader) error {
			found, err := r.Hosts(store.HostFilter{ClusterID: s.ClusterID, Bare: true})
			for _, host := range found {
				keys = append(keys, host.Key())
			}
			return err
		})
		return keys, err
	}
	look := func(key store.HostKey) ([]byte, error) {
		other, err := h.snapshot(ctx, key)
		if IsNotFound(err) || err == nil && other.ClusterID != s.ClusterID {
			return nil, nil // it has left
		}
		if err != nil {
			return nil, err
		}
		return other.Peer, nil
	}
	return h.cache.Peers(s.ClusterID).Others(s.Key, list, look)
}

// heard gives a record the last sign of life, which may not be stored yet.
func (h *Hub) heard(host *store.Host) {
	c, ok := h.checkIns.Last(host.Key())
	if !ok || !c.At.After(host.API.CheckedInAt.Time) {
		return
	}
	host.API.CheckedInAt = wire.At(c.At)
	if c.Clock != 0 {
		host.API.Timestamp = c.Clock
	}
}

const (
	// flushEvery is how often signs of life are stored: a crash loses those since.
	flushEvery = 3 * time.Second
	// flushTime bounds one time.
	flushTime = 10 * time.Second
)

// KeepCheckIns stores signs of life until the context ends, and then those that
// are left. Every replica runs it.
func (h *Hub) KeepCheckIns(ctx context.Context) error {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return h.flush(context.WithoutCancel(ctx))
		case <-ticker.C:
			if err := h.flush(ctx); err != nil && ctx.Err() == nil {
				h.log.Error("the hosts' signs of life could not be stored; the hub tries again", "error", err)
			}
		}
	}
}

func (h *Hub) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	return h.checkIns.Flush(ctx, h.store, h.now())
}
