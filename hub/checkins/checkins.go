// Package checkins remembers when hosts were heard of last. A poll only moves a
// time in memory; [Book.Flush] stores what has moved, many hosts at once. What a
// crash loses of that is younger than the last flush.
package checkins

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// forgetAfter is how long a host that says nothing is remembered here; by then
// its last word has long been stored.
const forgetAfter = time.Hour

// Book holds the last sign of life of each host. The zero value is ready. All
// methods are safe for concurrent use.
type Book struct {
	mu    sync.RWMutex
	hosts map[store.HostKey]*entry
}

// entry is one host's; times are Unix microseconds.
type entry struct{ at, clock, stored atomic.Int64 }

// Note takes a sign of life. clock is the host's own clock in Unix seconds, zero
// when it did not say.
func (b *Book) Note(key store.HostKey, at time.Time, clock int64) {
	e := b.entry(key)
	if clock != 0 {
		e.clock.Store(clock)
	}
	e.at.Store(at.UnixMicro())
}

func (b *Book) entry(key store.HostKey) *entry {
	b.mu.RLock()
	e := b.hosts[key]
	b.mu.RUnlock()
	if e != nil {
		return e
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hosts == nil {
		b.hosts = map[store.HostKey]*entry{}
	}
	if b.hosts[key] == nil {
		b.hosts[key] = &entry{}
	}
	return b.hosts[key]
}

// Last returns the last sign of life; false for a host that was not heard of.
func (b *Book) Last(key store.HostKey) (store.CheckIn, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	e, ok := b.hosts[key]
	if !ok {
		return store.CheckIn{}, false
	}
	return e.checkIn(key), true
}

// Heard gives a record that was read the last sign of life of its host, which
// may not be stored yet.
func (b *Book) Heard(h *store.Host) {
	c, ok := b.Last(h.Key())
	if !ok || !c.At.After(h.API.CheckedInAt.Time) {
		return
	}
	h.API.CheckedInAt = wire.At(c.At)
	if c.Clock != 0 {
		h.API.Timestamp = c.Clock
	}
}

func (e *entry) checkIn(key store.HostKey) store.CheckIn {
	return store.CheckIn{Host: key, At: time.UnixMicro(e.at.Load()).UTC(), Clock: e.clock.Load()}
}

// Flush stores what has moved since the last one. What could not be stored is
// tried again with the next.
func (b *Book) Flush(ctx context.Context, s store.Store, now time.Time) error {
	moved := b.moved(now)
	if len(moved) == 0 {
		return nil
	}
	if err := s.Commit(ctx, &store.Unit{CheckIns: moved}); err != nil {
		return err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, c := range moved {
		if e := b.hosts[c.Host]; e != nil {
			e.stored.Store(c.At.UnixMicro())
		}
	}
	return nil
}

// moved lists what is not stored yet, and forgets hosts that left long ago.
func (b *Book) moved(now time.Time) (all []store.CheckIn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, e := range b.hosts {
		c := e.checkIn(key)
		switch {
		case c.At.UnixMicro() > e.stored.Load():
			all = append(all, c)
		case now.Sub(c.At) > forgetAfter:
			delete(b.hosts, key)
		}
	}
	return all
}
