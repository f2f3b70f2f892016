package service

import (
	"context"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/deadlines"
	"github.com/ironflow/ironflow/hub/jobs"
	"github.com/ironflow/ironflow/hub/leases"
	"github.com/ironflow/ironflow/hub/polls"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
)

// cleanEvery is how often old events are looked for.
const cleanEvery = time.Hour

// monitor has done what no call does: what happens because nothing happened (silent agents, limits that have passed), and
// the slow work that calls leave behind. Replicas share both. All methods are safe for concurrent use.
type monitor struct {
	units  *settle.Units
	signs  *polls.CheckIns
	looked func(store.Kind, time.Duration)
}

// Run takes part in the work of all replicas until the context ends. One of them
// watches for what happens because nothing happened: agents that fell silent, stages
// and preparations that take too long, clusters that may be prepared again.
func (m *monitor) Run(ctx context.Context) error {
	m.units.Start() // whatever came between New and here kept agents out
	var beating sync.WaitGroup
	defer beating.Wait()
	beating.Go(func() { m.beat(ctx) })
	leases.Run(ctx, leases.Options{
		Store: m.units.Store, Now: m.units.Now, Renewal: m.units.Rules.Timers.Renewal, Log: m.units.Log,
		Member: m.work, Leader: m.lead,
		Lost: m.units.Lost, Back: m.units.Start,
	})
	return nil
}

// beat tells that the program runs, also while nobody calls it, until the context ends.
func (m *monitor) beat(ctx context.Context) {
	ticker := time.NewTicker(m.units.Beat())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.units.Awake()
		}
	}
}

// work does the slow work that units want. Every replica takes part.
func (m *monitor) work(ctx context.Context, replica string) {
	jobs.Run(ctx, jobs.Options{Store: m.units.Store, Holder: replica, Kinds: m.units.Jobs(), Now: m.units.Now, Log: m.units.Log})
}

// lead keeps the timers of all hosts and clusters.
func (m *monitor) lead(ctx context.Context) {
	var cleaning sync.WaitGroup
	defer cleaning.Wait()
	cleaning.Go(func() { m.clean(ctx) })
	deadlines.Run(ctx, deadlines.Options{
		Store: m.units.Store, Now: m.units.Now, Heard: m.heard, Look: m.look,
		Grain: m.units.Rules.Timers.Monitor, Log: m.units.Log,
	})
}

// heard is from when on a host's silence counts, as far as this replica knows.
func (m *monitor) heard(key store.HostKey) time.Time {
	started := m.units.Evaluator(m.units.Now()).Started
	if c, ok := m.signs.Last(key); ok && c.At.After(started) {
		return c.At
	}
	return started
}

// look looks at one host or cluster, in a unit of work of its own.
func (m *monitor) look(ctx context.Context, of store.Ref) (next store.Deadline, err error) {
	began := time.Now()
	defer func() { m.looked(of.Kind, time.Since(began)) }()
	err = m.units.Update(ctx, func(w *settle.Work) (err error) {
		next, err = w.Look(of)
		return err
	})
	return next, err
}

// clean forgets events that nobody will look for any more, until the context ends.
func (m *monitor) clean(ctx context.Context) {
	cleaner := time.NewTicker(cleanEvery)
	defer cleaner.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-cleaner.C:
			if err := m.units.Store.Prune(ctx, m.units.Now().Add(-m.units.Rules.Timers.KeepEvents)); err != nil && ctx.Err() == nil {
				m.units.Log.Error("old events could not be removed; the hub tries again", "error", err)
			}
		}
	}
}
