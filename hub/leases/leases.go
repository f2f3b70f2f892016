// Package leases lets several programs over one store share their work: each is
// known to the others as long as it lives, and one of them leads.
//
// A program has a lease of its own, which it renews. The others watch the lease's
// version: one that has not changed for [silence] renewals, by the watcher's own
// clock, belongs to a program that is gone. So no two clocks are compared. Whatever
// a program holds counts only while its own lease is there; the timers' lease makes
// its holder the leader. The main type is [Options]; [Run] does the work.
package leases

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/store"
)

const (
	// Renewal is how often a program says that it lives, unless [Options] say otherwise.
	Renewal = 5 * time.Second
	// silence is after how many renewals that did not come a program is taken for
	// gone. It stops its own work one renewal earlier.
	silence = 3
)

const (
	// member begins the name of the lease that says that a program lives.
	member = "member/"
	// timers is the name of the leader's lease.
	timers = "timers"
)

// Options say what is shared. Store and Now are required.
type Options struct {
	// Store is what the programs have in common.
	Store store.Store
	// Now is the clock.
	Now func() time.Time
	// Renewal is how often this program says that it lives; zero means [Renewal].
	// All programs have the same.
	Renewal time.Duration
	// Member runs while this program is known to the others, by a name that is new
	// each time. It returns when its context ends, and so does Leader.
	Member func(ctx context.Context, name string)
	// Leader runs on one program at a time.
	Leader func(ctx context.Context)
	// Lost is called when another program has ended or died: what it had only in its
	// memory is lost. A program that starts and dies all the time has it called as often.
	Lost func()
	// Back is called when this program begins another life, before it leads again: while
	// it could not renew its lease, it could not learn anything either.
	Back func()
	// Log is told who leads and who is gone.
	Log *slog.Logger
}

// Run takes part until ctx ends, and then leaves, so that the others need not wait.
func Run(ctx context.Context, o Options) {
	if o.Renewal == 0 {
		o.Renewal = Renewal
	}
	k := &keeper{Options: o, seen: map[string]sighting{}, past: map[string]bool{}}
	ticker := time.NewTicker(o.Renewal)
	defer ticker.Stop()
	for {
		if err := k.round(ctx); err != nil && ctx.Err() == nil {
			o.Log.Warn("this replica's lease could not be renewed; it tries again", "error", err)
		}
		select {
		case <-ctx.Done():
			if err := k.leave(ctx); err != nil {
				o.Log.Warn("this replica could not say that it ends; the others wait until its lease is over", "error", err)
			}
			return
		case <-ticker.C:
		}
	}
}

// keeper is one program that takes part.
type keeper struct {
	Options
	// self is this program's life among the others; nil while it has none.
	self *life
	// seen are the other programs.
	seen map[string]sighting
	// past are the names of this program's earlier lives.
	past map[string]bool
}

// sighting is when a program was first seen with a version of its lease.
type sighting struct {
	version int64
	since   time.Time
}

// round renews the lease and looks who else is there.
func (k *keeper) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, k.Renewal)
	defer cancel()
	if err := k.renew(ctx); err != nil {
		return err
	}
	var found []*store.Lease
	err := k.Store.View(ctx, func(r *store.Reader) (err error) {
		found, err = r.Leases()
		return err
	})
	if err != nil {
		return err
	}
	gone := k.watch(found)
	return k.lead(ctx, found, gone)
}

// renew says that this program lives.
func (k *keeper) renew(ctx context.Context) error {
	began := k.Now()
	if k.self != nil && k.self.ctx.Err() != nil {
		k.end() // it was silent for too long; the others may have gone on without it
	}
	if k.self == nil {
		name := uuid.NewString()
		lease := &store.Lease{Name: member + name, Holder: name}
		if err := k.Store.Commit(ctx, &store.Unit{Leases: []*store.Lease{lease}}); err != nil {
			return err
		}
		k.self = begin(ctx, lease, k.Member)
		if len(k.past) > 0 {
			k.Back()
		}
	} else if err := k.Store.Commit(ctx, &store.Unit{Leases: []*store.Lease{k.self.lease}}); err != nil {
		if errors.Is(err, store.ErrConflict) {
			k.end()
			return fmt.Errorf("the other replicas took this one for gone: %w", err)
		}
		return err
	}
	k.self.fence.Reset((silence-1)*k.Renewal - k.Now().Sub(began))
	return nil
}

// watch notes who else is there, and returns the leases of those that are gone.
func (k *keeper) watch(found []*store.Lease) (gone []*store.Lease) {
	there, lost := map[string]bool{}, false
	for _, l := range found {
		if !strings.HasPrefix(l.Name, member) || l.Holder == k.self.lease.Holder {
			continue
		}
		if k.past[l.Holder] {
			gone = append(gone, l)
			continue
		}
		there[l.Holder] = true
		switch last, known := k.seen[l.Holder]; {
		case !known || last.version != l.Version:
			k.seen[l.Holder] = sighting{l.Version, k.Now()}
		case k.Now().Sub(last.since) >= silence*k.Renewal:
			gone, lost = append(gone, l), true
		}
	}
	for name := range k.seen {
		if !there[name] {
			delete(k.seen, name)
			lost = true
		}
	}
	if lost {
		k.Lost()
	}
	return gone
}

// lead takes the timers when nobody has them. The leader removes the leases of
// programs that are gone, so that what they held is free.
func (k *keeper) lead(ctx context.Context, found, gone []*store.Lease) error {
	lease := &store.Lease{Name: timers}
	alive := map[string]bool{}
	for _, l := range found {
		if l.Name == timers {
			lease = l
		}
		if strings.HasPrefix(l.Name, member) {
			alive[l.Holder] = true
		}
	}
	for _, l := range gone {
		delete(alive, l.Holder)
	}
	mine := lease.Holder == k.self.lease.Holder
	if !mine && alive[lease.Holder] {
		k.self.follow()
		return nil
	}
	u := &store.Unit{}
	if !mine {
		lease.Holder = k.self.lease.Holder
		u.Leases = []*store.Lease{lease}
	}
	for _, l := range gone {
		u.Gone = append(u.Gone, l.Ref())
		u.Changes = []store.Change{{What: store.ChangedJob}}
		k.Log.Warn("a replica is gone; others do its work", "replica", l.Holder)
	}
	if err := k.Store.Commit(ctx, u); err != nil {
		if errors.Is(err, store.ErrConflict) {
			return nil // somebody else was faster
		}
		return err
	}
	if !mine {
		k.Log.Info("this replica keeps the timers", "replica", lease.Holder)
	}
	k.self.lead(k.Leader)
	return nil
}

// end ends this program's life among the others.
func (k *keeper) end() {
	k.self.end()
	k.past[k.self.lease.Holder] = true
	k.self = nil
}

// leave frees what this program holds.
func (k *keeper) leave(ctx context.Context) error {
	if k.self == nil {
		return nil
	}
	name := k.self.lease.Holder
	k.end()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.Renewal)
	defer cancel()
	u := &store.Unit{Changes: []store.Change{{What: store.ChangedJob}}}
	err := k.Store.View(ctx, func(r *store.Reader) error {
		found, err := r.Leases()
		for _, l := range found {
			if l.Holder == name {
				u.Gone = append(u.Gone, l.Ref())
			}
		}
		return err
	})
	if err == nil {
		err = k.Store.Commit(ctx, u)
	}
	if errors.Is(err, store.ErrConflict) {
		return nil // the others have done it
	}
	return err
}

// life is one stay among the others.
type life struct {
	lease *store.Lease
	// ctx is what runs while the lease is there; fence ends it when the lease was not
	// renewed in time.
	ctx   context.Context
	stop  context.CancelFunc
	fence *time.Timer
	// leading ends the leader's work; nil for a follower.
	leading context.CancelFunc
	member  sync.WaitGroup
	leader  sync.WaitGroup
}

// begin starts what a member runs. It does not end with the call's context.
func begin(ctx context.Context, lease *store.Lease, run func(context.Context, string)) *life {
	l := &life{lease: lease}
	l.ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.fence = time.AfterFunc(time.Hour, l.stop)
	l.member.Go(func() { run(l.ctx, lease.Holder) })
	return l
}

func (l *life) lead(run func(context.Context)) {
	if l.leading != nil {
		return
	}
	ctx, stop := context.WithCancel(l.ctx)
	l.leading = stop
	l.leader.Go(func() { run(ctx) })
}

// follow ends the leader's work, if there is some, and waits for its end.
func (l *life) follow() {
	if l.leading != nil {
		l.leading()
		l.leading = nil
	}
	l.leader.Wait()
}

func (l *life) end() {
	l.fence.Stop()
	l.stop()
	l.follow()
	l.member.Wait()
}
