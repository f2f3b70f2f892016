// Package deadlines looks at exactly those hosts and clusters that time alone may
// change, when it may.
//
// The next deadline of a host or a cluster is stored with its record, in columns of
// their own: when a limit is over, and how long the host may be silent. [Run] keeps
// them in a heap. It reads them all once at the start, and again those whose record
// changed. A sign of life moves nothing: when a host would have been silent for too
// long, its last one is looked at, and the deadline moves on. So a poll costs nothing
// here, and a fleet at rest one glance for each host and silence.
package deadlines

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/store"
)

// Options say who is looked at and how. All members are required.
type Options struct {
	// Store has the deadlines.
	Store store.Store
	// Now is the clock.
	Now func() time.Time
	// Heard is from when on a host's silence counts at the earliest: its last sign of
	// life that this program knows of, or when hosts could be heard of again.
	Heard func(store.HostKey) time.Time
	// Look looks at the host or the cluster and returns its deadline afterwards.
	Look func(context.Context, store.Ref) (store.Deadline, error)
	// Grain is the least pause between two looks, so that what comes close together
	// is read together.
	Grain time.Duration
	// Log is told what could not be done.
	Log *slog.Logger
}

// idle is the longest pause.
const idle = time.Hour

// again is the pause before somebody is looked at again whose deadline stays over, or
// who could not be looked at.
func (o *Options) again() time.Duration { return 8 * o.Grain }

// Run looks at who is due until ctx ends.
func Run(ctx context.Context, o Options) {
	k := &keeper{Options: o, news: news{all: true, wake: make(chan struct{}, 1)}}
	defer o.Store.Watch(k.news.add)()
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for ctx.Err() == nil {
		pause := max(k.pass(ctx), o.Grain)
		timer.Reset(o.Grain)
		select { // what comes together is done together
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(pause - o.Grain)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-k.news.wake:
		}
	}
}

// keeper is what keeps the deadlines.
type keeper struct {
	Options
	news     news
	schedule schedule
}

// pass looks at all who are due, and returns for how long nobody will be.
func (k *keeper) pass(ctx context.Context) time.Duration {
	if err := k.catchUp(ctx); err != nil {
		if ctx.Err() == nil {
			k.Log.Error("the deadlines could not be read; the hub tries again", "error", err)
		}
		return k.again()
	}
	due := k.due()
	if len(due) > 0 {
		if err := k.look(ctx, due); err != nil && ctx.Err() == nil {
			k.Log.Error("not all who are due could be looked at; the hub tries again", "error", err)
		}
	}
	next, ok := k.schedule.next()
	if !ok {
		return idle
	}
	return min(next.Sub(k.Now()), idle)
}

// catchUp reads the deadlines of who has changed.
func (k *keeper) catchUp(ctx context.Context) error {
	all, changed := k.news.take()
	if !all && len(changed) == 0 {
		return nil
	}
	var found []store.Deadline
	err := k.Store.View(ctx, func(r *store.Reader) (err error) {
		if all {
			found, err = r.Deadlines()
			return err
		}
		found, err = r.DeadlinesOf(changed)
		return err
	})
	if err != nil {
		k.news.missed()
		return err
	}
	if all {
		k.schedule = schedule{}
	}
	for _, ref := range changed {
		k.schedule.set(store.Deadline{Of: ref}, time.Time{}) // unless it is found
	}
	for _, d := range found {
		k.schedule.set(d, k.at(d))
	}
	return nil
}

// at is when somebody has to be looked at: right after the limit. The zero time is never.
func (k *keeper) at(d store.Deadline) time.Time {
	at := d.Due
	if d.Patience > 0 {
		heard := d.Heard
		if here := k.Heard(hostKey(d.Of)); here.After(heard) {
			heard = here
		}
		if silent := heard.Add(d.Patience); at.IsZero() || silent.Before(at) {
			at = silent
		}
	}
	if at.IsZero() {
		return at
	}
	return at.Add(time.Millisecond)
}

func hostKey(r store.Ref) store.HostKey {
	return store.HostKey{InfraEnvID: r.InfraEnvID, HostID: r.ID}
}

// due takes out who is due by what is known here. Whoever was heard of is put back.
func (k *keeper) due() (due []store.Ref) {
	now := k.Now()
	for {
		d, ok := k.schedule.take(now)
		if !ok {
			return due
		}
		if at := k.at(d); at.After(now) {
			k.schedule.set(d, at)
			continue
		}
		due = append(due, d.Of)
	}
}

// look asks the store, which knows whom other replicas have heard of, and looks at
// those who are due all the same. One that cannot be looked at holds up nobody.
func (k *keeper) look(ctx context.Context, refs []store.Ref) (failure error) {
	var found []store.Deadline
	err := k.Store.View(ctx, func(r *store.Reader) (err error) {
		found, err = r.DeadlinesOf(refs)
		return err
	})
	if err != nil {
		for _, ref := range refs {
			k.schedule.set(store.Deadline{Of: ref}, k.Now().Add(k.again()))
		}
		return err
	}
	for _, d := range found {
		now := k.Now()
		if k.at(d).After(now) || k.at(d).IsZero() {
			k.schedule.set(d, k.at(d))
			continue
		}
		next, err := k.Look(ctx, d.Of)
		at := k.at(next)
		if err != nil {
			failure, next, at = err, d, now.Add(k.again())
		}
		if !at.IsZero() && !at.After(now) {
			at = now.Add(k.again())
		}
		next.Of = d.Of
		k.schedule.set(next, at)
	}
	return failure
}

// news are the hosts and clusters that have changed since they were read.
type news struct {
	mu      sync.Mutex
	all     bool
	changed map[store.Ref]bool
	wake    chan struct{}
}

func (n *news) add(changes []store.Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range changes {
		ref := store.Ref{Kind: store.KindCluster, ID: c.ClusterID}
		if c.HostID != "" {
			ref = store.Ref{Kind: store.KindHost, InfraEnvID: c.InfraEnvID, ID: c.HostID}
		}
		switch {
		case c.What == store.ChangedAll:
			n.all, n.changed = true, nil
		case ref.ID == "" || n.all:
		default:
			if n.changed == nil {
				n.changed = map[store.Ref]bool{}
			}
			n.changed[ref] = true
		}
	}
	if !n.all && len(n.changed) == 0 {
		return
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// missed has everything read again, at the next pass.
func (n *news) missed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all, n.changed = true, nil
}

func (n *news) take() (all bool, changed []store.Ref) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for ref := range n.changed {
		changed = append(changed, ref)
	}
	all = n.all
	n.all, n.changed = false, nil
	return all, changed
}
