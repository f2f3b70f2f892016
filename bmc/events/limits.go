package events

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// limits bound what is read. Deliveries to no host's address have bounds of their
// own: whoever guesses takes nothing away from those that know.
type limits struct {
	all, guesses        *rate.Limiter
	bodies, guessBodies chan struct{}
}

func (l *limits) init(o Options) {
	l.all = rate.NewLimiter(rate.Limit(o.Rate), o.Burst)
	l.guesses = rate.NewLimiter(rate.Limit(o.GuessRate), o.GuessBurst)
	l.bodies, l.guessBodies = make(chan struct{}, o.Bodies), make(chan struct{}, guessBodies)
}

// enter lets a delivery in to be read, unless it is beyond a limit. Whoever is let
// in calls done in the end. A host waits for its place: what many send at the same
// moment is not lost.
func (l *limits) enter(ctx context.Context, host match, now time.Time) (done func(), admitted bool) {
	if host.entry == nil {
		return l.guess(now)
	}
	if !host.entry.limit.AllowN(now, 1) || !l.all.AllowN(now, 1) {
		return nil, false
	}
	// The host's own places first: it holds no more of the common ones.
	if !wait(ctx, host.entry.bodies) {
		return nil, false
	}
	if !wait(ctx, l.bodies) {
		<-host.entry.bodies
		return nil, false
	}
	return func() { <-l.bodies; <-host.entry.bodies }, true
}

func wait(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *limits) guess(now time.Time) (done func(), admitted bool) {
	if !l.guesses.AllowN(now, 1) {
		return nil, false
	}
	select {
	case l.guessBodies <- struct{}{}:
		return func() { <-l.guessBodies }, true
	default:
		return nil, false
	}
}
