package polls

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

// CheckIns are the last signs of life of the hosts. A poll only moves a time in memory; [CheckIns.Flush] stores
// what has moved, many hosts at once. What a crash loses of that is younger than the last flush. The zero value is
// ready. All methods are safe for concurrent use.
type CheckIns struct {
	mu    sync.RWMutex
	hosts map[store.HostKey]*entry
}

// entry is one host's; times are Unix microseconds.
type entry struct{ at, clock, stored atomic.Int64 }

// Note takes a sign of life. clock is the host's own clock in Unix seconds, zero
// when it did not say.
func (t *CheckIns) Note(key store.HostKey, at time.Time, clock int64) {
	e := t.entry(key)
	if clock != 0 {
		e.clock.Store(clock)
	}
	e.at.Store(at.UnixMicro())
}

func (t *CheckIns) entry(key store.HostKey) *entry {
	t.mu.RLock()
	e := t.hosts[key]
	t.mu.RUnlock()
	if e != nil {
		return e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hosts == nil {
		t.hosts = map[store.HostKey]*entry{}
	}
	if t.hosts[key] == nil {
		t.hosts[key] = &entry{}
	}
	return t.hosts[key]
}

// Last returns the last sign of life; false for a host that was not heard of.
func (t *CheckIns) Last(key store.HostKey) (store.CheckIn, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, ok := t.hosts[key]
	if !ok {
		return store.CheckIn{}, false
	}
	return e.checkIn(key), true
}

// Heard gives a record that was read the last sign of life of its host, which
// may not be stored yet.
func (t *CheckIns) Heard(h *store.Host) {
	c, ok := t.Last(h.Key())
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
func (t *CheckIns) Flush(ctx context.Context, s store.Store, now time.Time) error {
	moved := t.moved(now)
	if len(moved) == 0 {
		return nil
	}
	if err := s.Commit(ctx, &store.Unit{CheckIns: moved}); err != nil {
		return err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, c := range moved {
		if e := t.hosts[c.Host]; e != nil {
			e.stored.Store(c.At.UnixMicro())
		}
	}
	return nil
}

// moved lists what is not stored yet, and forgets hosts that left long ago.
func (t *CheckIns) moved(now time.Time) (all []store.CheckIn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, e := range t.hosts {
		c := e.checkIn(key)
		switch {
		case c.At.UnixMicro() > e.stored.Load():
			all = append(all, c)
		case now.Sub(c.At) > forgetAfter:
			delete(t.hosts, key)
		}
	}
	return all
}
