package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Run watches for what happens because nothing happened: agents that fell
// silent, stages and preparations that take too long, clusters that may be
// prepared again. It returns when the context ends. Only one replica of a hub
// runs it.
func (h *Hub) Run(ctx context.Context) error {
	h.start() // whatever came between New and here kept agents out
	ticker, cleaner := time.NewTicker(h.timers.Monitor), time.NewTicker(cleanEvery)
	defer ticker.Stop()
	defer cleaner.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			err = h.Tick(ctx)
		case <-cleaner.C:
			err = h.clean(ctx)
		}
		if err != nil && ctx.Err() == nil {
			h.log.Error("the monitor could not do all of its work; it tries again", "error", err)
		}
	}
}

// clean forgets events that nobody will look for any more.
func (h *Hub) clean(ctx context.Context) error {
	return h.store.Prune(ctx, h.now().Add(-h.timers.KeepEvents))
}

// timed are the statuses that end by themselves after some time.
var timed = slices.Concat(hostmachine.Preparing, hostmachine.Installing,
	[]string{wire.HostStatusPreparingFailed, wire.HostStatusReclaiming, wire.HostStatusReclaimingRebooting, wire.HostStatusError, wire.HostStatusCancelled})

// watched are the statuses in which an agent is expected to poll.
var watched = slices.Concat([]string{
	wire.HostStatusDiscovering, wire.HostStatusKnown, wire.HostStatusInsufficient, wire.HostStatusPendingForInput,
	wire.HostStatusDiscoveringUnbound, wire.HostStatusKnownUnbound, wire.HostStatusInsufficientUnbound, wire.HostStatusUnbinding,
})

// Tick looks once. Each host or cluster is a unit of work of its own, so that
// one that cannot be handled keeps none of the others waiting.
func (h *Hub) Tick(ctx context.Context) error {
	var keys []store.HostKey
	var clusters []string
	filters := []store.HostFilter{{Statuses: timed, Bare: true}}
	if silentSince := h.now().Add(-h.timers.Disconnected); !silentSince.Before(*h.started.Load()) {
		filters = append(filters, store.HostFilter{Statuses: watched, SilentSince: silentSince, Bare: true})
	}
	err := h.view(ctx, func(r *store.Reader) error {
		for _, f := range filters {
			found, err := r.Hosts(f)
			if err != nil {
				return err
			}
			for _, host := range found {
				keys = append(keys, host.Key())
			}
		}
		found, err := r.Clusters(store.ClusterFilter{Statuses: []string{
			wire.ClusterStatusReady, wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusFinalizing,
		}})
		for _, c := range found {
			if h.due(c) {
				clusters = append(clusters, c.API.ID)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	var failures []error
	for _, key := range keys {
		failures = append(failures, h.update(ctx, func(w *work) error { return w.lookAt(key) }))
	}
	for _, id := range clusters {
		failures = append(failures, h.update(ctx, func(w *work) error {
			_, err := w.settleCluster(id)
			return err
		}))
	}
	return errors.Join(failures...)
}

// due tells that time alone may change the cluster. A ready one that has never
// been prepared waits for hosts or people, which come with calls of their own.
func (h *Hub) due(c *store.Cluster) bool {
	if c.API.Status != wire.ClusterStatusReady {
		return true
	}
	return !c.PreparedAt.IsZero() && h.now().Sub(c.PreparedAt) >= h.timers.Repeat
}

// lookAt refreshes the host; if that changes it, settling follows.
func (w *work) lookAt(key store.HostKey) error {
	host, err := w.host(key)
	if IsNotFound(err) {
		return nil // it left in the meantime
	}
	if err != nil {
		return err
	}
	_, err = w.refreshHost(host)
	return err
}
