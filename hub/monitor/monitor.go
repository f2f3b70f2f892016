package monitor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// cleanEvery is how often old events are looked for.
const cleanEvery = time.Hour

// Monitor watches. All methods are safe for concurrent use.
type Monitor struct{ units *settle.Units }

// New makes it.
func New(units *settle.Units) *Monitor { return &Monitor{units} }

// Run watches for what happens because nothing happened: agents that fell
// silent, stages and preparations that take too long, clusters that may be
// prepared again. It returns when the context ends. Only one replica of a hub
// runs it.
func (m *Monitor) Run(ctx context.Context) error {
	m.units.Start() // whatever came between New and here kept agents out
	ticker, cleaner := time.NewTicker(m.units.Rules.Timers.Monitor), time.NewTicker(cleanEvery)
	defer ticker.Stop()
	defer cleaner.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			err = m.Tick(ctx)
		case <-cleaner.C:
			err = m.clean(ctx)
		}
		if err != nil && ctx.Err() == nil {
			m.units.Log.Error("the monitor could not do all of its work; it tries again", "error", err)
		}
	}
}

// clean forgets events that nobody will look for any more.
func (m *Monitor) clean(ctx context.Context) error {
	return m.units.Store.Prune(ctx, m.units.Now().Add(-m.units.Rules.Timers.KeepEvents))
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
func (m *Monitor) Tick(ctx context.Context) error {
	var keys []store.HostKey
	var clusters []string
	filters := []store.HostFilter{{Statuses: timed, Bare: true}}
	now := m.units.Judge(m.units.Now())
	if silentSince := now.Now.Add(-now.Timers.Disconnected); !silentSince.Before(now.Started) {
		filters = append(filters, store.HostFilter{Statuses: watched, SilentSince: silentSince, Bare: true})
	}
	err := m.units.View(ctx, func(w *settle.Work) error {
		for _, f := range filters {
			found, err := w.Reader.Hosts(f)
			if err != nil {
				return err
			}
			for _, host := range found {
				keys = append(keys, host.Key())
			}
		}
		found, err := w.Reader.Clusters(store.ClusterFilter{Statuses: []string{
			wire.ClusterStatusReady, wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusFinalizing,
		}})
		for _, c := range found {
			if w.Due(c) {
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
		failures = append(failures, m.units.Update(ctx, func(w *settle.Work) error { return lookAt(w, key) }))
	}
	for _, id := range clusters {
		failures = append(failures, m.units.Update(ctx, func(w *settle.Work) error {
			_, err := w.SettleCluster(id)
			return err
		}))
	}
	return errors.Join(failures...)
}

// lookAt refreshes the host; if that changes it, settling follows.
func lookAt(w *settle.Work, key store.HostKey) error {
	host, err := w.Host(key)
	if refusal.IsNotFound(err) {
		return nil // it left in the meantime
	}
	if err != nil {
		return err
	}
	_, err = w.RefreshHost(host)
	return err
}
