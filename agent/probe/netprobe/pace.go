package netprobe

import (
	"context"
	"sync"
	"time"
)

// MaxAtOnce bounds the probes that run at the same time.
const MaxAtOnce = 64

// Pace says how often and how fast one address is asked.
type Pace struct {
	// Requests is how many are sent.
	Requests int
	// Interval lies between two of them.
	Interval time.Duration
	// Wait is how long an answer to the last one is waited for.
	Wait time.Duration
}

// length is the longest that a probe takes.
func (p Pace) length() time.Duration { return time.Duration(p.Requests-1)*p.Interval + p.Wait }

// LongestWait is how long an answer is waited for when there is time.
const LongestWait = 3 * time.Second

// The pace of a probe that has all the time it wants, and the least time that
// one gets: below it a large cluster would be asked faster than switches like.
const (
	requests    = 10
	maxInterval = 100 * time.Millisecond
	maxSlot     = 5 * time.Second
	minSlot     = 60 * time.Millisecond
)

// Spread is the pace at which so many probes, [MaxAtOnce] at a time, fit into
// the budget even if nobody answers: unhurried for a few hosts, brisk for
// thousands. More than about 1,000 probes for each second of the budget do not
// fit; who runs them lets a context end the rest.
func Spread(probes int, budget time.Duration) Pace {
	slot := maxSlot
	if probes > 0 {
		slot = max(min(budget*MaxAtOnce/time.Duration(probes), maxSlot), minSlot)
	}
	interval := min(slot/(2*requests), maxInterval)
	return Pace{Requests: requests, Interval: interval, Wait: min(slot-(requests-1)*interval, LongestWait)}
}

// Each calls f for all of 0 to n-1, [MaxAtOnce] at a time, and waits for them.
// Once the context has ended no more are started; it returns how many were.
func Each(ctx context.Context, n int, f func(i int)) int {
	var running sync.WaitGroup
	defer running.Wait()
	room := make(chan struct{}, MaxAtOnce)
	for i := range n {
		select {
		case <-ctx.Done():
			return i
		case room <- struct{}{}:
		}
		if ctx.Err() != nil {
			return i
		}
		running.Go(func() {
			defer func() { <-room }()
			f(i)
		})
	}
	return n
}

// sleep waits, or returns false when the context ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
