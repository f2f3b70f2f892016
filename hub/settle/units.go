package settle

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Units does units of work that end settled. [Units.Start] comes first.
type Units struct {
	*unit.Units
	Rules evaluate.Rules
	// Sources make the Ignition of clusters, and Keys seal what they made.
	Sources sources.Set
	Keys    seal.Keys
	// Inside is put into clusters whose end is told from inside.
	Inside inside.Program

	started, awake, lost atomic.Pointer[time.Time]
	kept                 kept
}

// Evaluator evaluates at a moment.
func (u *Units) Evaluator(now time.Time) evaluate.Evaluator {
	u.Awake()
	return evaluate.Evaluator{Rules: &u.Rules, Moment: evaluate.Moment{Now: now, Started: *u.started.Load()}}
}

// Work is one unit of work.
type Work struct {
	*unit.Work
	evaluate.Evaluator

	units *Units
	// decoded are the reports of hosts that were looked at.
	decoded map[store.HostKey]decoded
	// links are those of hosts whose report on connectivity was not read.
	links    map[store.HostKey]*validations.Links
	clusters map[string]*cluster
	// recent are kept members with the last sign of life of their hosts.
	recent  map[*evaluate.Member]*evaluate.Member
	scratch store.Host
}

func (u *Units) work(w *unit.Work) *Work {
	return &Work{
		Work: w, Evaluator: u.Evaluator(w.Now), units: u,
		decoded: map[store.HostKey]decoded{}, links: map[store.HostKey]*validations.Links{}, clusters: map[string]*cluster{}, recent: map[*evaluate.Member]*evaluate.Member{},
	}
}

// Update does one unit of work and what follows from it. It may be done several
// times, so f must have no effects outside of it.
func (u *Units) Update(ctx context.Context, f func(*Work) error) error {
	return u.Units.Update(ctx, func(plain *unit.Work) error {
		w := u.work(plain)
		if err := f(w); err != nil {
			return err
		}
		if err := w.Settle(); err != nil {
			return err
		}
		if err := w.noteDeadlines(); err != nil {
			return err
		}
		w.dropLeft()
		w.Stored(func() { u.keep(w) })
		return w.conclude()
	})
}

// View runs f over one state of the records. What f changes is not stored.
func (u *Units) View(ctx context.Context, f func(*Work) error) error {
	return u.Units.View(ctx, func(plain *unit.Work) error { return f(u.work(plain)) })
}

// Host does a unit of work on one host and returns the host as it is after that.
func (u *Units) Host(ctx context.Context, key store.HostKey, act func(*Work, *store.Host) error) (wire.Host, error) {
	var out wire.Host
	err := u.Update(ctx, func(w *Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		if err := act(w, host); err != nil {
			return err
		}
		if err := w.Settle(); err != nil {
			return err
		}
		out = host.API
		return nil
	})
	return out, err
}

// Cluster does a unit of work on one cluster and returns the cluster as it is after that.
func (u *Units) Cluster(ctx context.Context, id string, act func(*Work, *store.Cluster) error) (wire.Cluster, error) {
	var out wire.Cluster
	err := u.Update(ctx, func(w *Work) error {
		c, err := w.Cluster(id)
		if err != nil {
			return err
		}
		if err := act(w, c); err != nil {
			return err
		}
		if err := w.Settle(); err != nil {
			return err
		}
		out = c.API
		return nil
	})
	return out, err
}
