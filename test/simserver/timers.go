package simserver

import (
	"sync"
	"time"
)

// Timers run functions later with a server's lock held. All methods are called
// with that lock held.
type Timers struct {
	lock    sync.Locker
	pending map[*time.Timer]struct{}
	stopped bool
}

// NewTimers returns timers under the lock.
func NewTimers(lock sync.Locker) *Timers {
	return &Timers{lock: lock, pending: map[*time.Timer]struct{}{}}
}

// After runs f with the lock held once d has passed, unless [Timers.Stop] comes first.
func (t *Timers) After(d time.Duration, f func()) {
	if t.stopped {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(d, func() {
		t.lock.Lock()
		defer t.lock.Unlock()
		delete(t.pending, timer)
		if !t.stopped {
			f()
		}
	})
	t.pending[timer] = struct{}{}
}

// Stop ends all timers for good.
func (t *Timers) Stop() {
	t.stopped = true
	for timer := range t.pending {
		timer.Stop()
	}
	clear(t.pending)
}

// Stopped says whether [Timers.Stop] was called.
func (t *Timers) Stopped() bool { return t.stopped }
