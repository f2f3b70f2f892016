package client

import (
	"context"
	"sync/atomic"
)

// Counter counts the requests that are made for one purpose, while others use the same
// client. Its methods may be called by many at once.
type Counter struct{ n atomic.Int64 }

type counterKey struct{}

// WithCounter returns a context whose requests are counted, with redirects, repetitions
// and the logins that they begin. A login that another has begun is not: who waits
// for it costs the BMC nothing. Of nested counters the innermost counts.
func WithCounter(ctx context.Context) (context.Context, *Counter) {
	c := &Counter{}
	return context.WithValue(ctx, counterKey{}, c), c
}

// CountRequest counts a request that is made with the context, if it has a counter.
func CountRequest(ctx context.Context) {
	if c, is := ctx.Value(counterKey{}).(*Counter); is {
		c.n.Add(1)
	}
}

// Requests is how many requests were made.
func (c *Counter) Requests() int64 { return c.n.Load() }
