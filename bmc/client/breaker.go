package client

import (
	"math/rand/v2"
	"sync"
	"time"
)

// breaker leaves a BMC alone that gives no answer: asking on makes it worse. While
// it is open only the service root is tried, ever more rarely.
type breaker struct {
	mu      sync.Mutex
	misses  int
	open    bool
	trying  bool
	until   time.Time
	backoff time.Duration
}

const (
	breakerMisses  = 3
	breakerFirst   = 5 * time.Second
	breakerLongest = 5 * time.Minute
)

// admission is what may be done now.
type admission int

const (
	goOn     admission = iota
	tryRoot            // this caller shall try the root first
	keepAway           // not now
)

// admit decides about a request; keepAway says for how long.
func (b *breaker) admit(now time.Time) (admission, time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch wait := b.until.Sub(now); {
	case !b.open:
		return goOn, 0
	case wait > 0:
		return keepAway, wait
	case b.trying:
		return keepAway, time.Second
	}
	b.trying = true
	return tryRoot, 0
}

// silent reports whether the BMC was found silent since a request was admitted, and
// how long it is left alone.
func (b *breaker) silent(now time.Time) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.Sub(now), b.open
}

// answered notes that the BMC answers; it reports whether that is news.
func (b *breaker) answered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.open
	b.misses, b.open, b.trying, b.backoff = 0, false, false, 0
	return news
}

// missed notes that it did not; it reports whether the breaker opens by that.
func (b *breaker) missed(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.misses++
	if b.open && !b.trying || b.misses < breakerMisses {
		return false
	}
	news := !b.open
	b.open, b.trying = true, false
	b.backoff = min(max(2*b.backoff, breakerFirst), breakerLongest)
	// Up to a fifth more, so that a thousand BMCs behind one switch do not return at once.
	b.until = now.Add(b.backoff + rand.N(b.backoff/5)) //nolint:gosec // no secret
	return news
}

// gaveUp ends a try that says nothing of the BMC.
func (b *breaker) gaveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}
