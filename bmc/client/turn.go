package client

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// turns lets requests through: some at a time, some a second, changes one by one.
type turns struct {
	slots  chan struct{}
	rate   *rate.Limiter
	writes chan struct{}
}

func newTurns(options Options) *turns {
	return &turns{
		slots: make(chan struct{}, options.Concurrency), writes: make(chan struct{}, 1),
		rate: rate.NewLimiter(rate.Limit(options.Rate), options.Burst),
	}
}

// take waits for a request's turn. The returned function ends it.
func (t *turns) take(ctx context.Context) (func(), error) {
	done, err := acquire(ctx, t.slots)
	if err != nil {
		return nil, err
	}
	if err := t.pace(ctx); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// pace keeps the rate. Unlike the limiter's own Wait it does not give up early for
// a deadline that is too near.
func (t *turns) pace(ctx context.Context) error {
	reservation := t.rate.Reserve()
	if err := pause(ctx, reservation.Delay()); err != nil {
		reservation.Cancel()
		return err
	}
	return nil
}

// write waits until no other change is under way.
func (t *turns) write(ctx context.Context) (func(), error) { return acquire(ctx, t.writes) }

func acquire(ctx context.Context, slots chan struct{}) (func(), error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
