package unit

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
)

// atOnce is how many attempts are under way at the same time. Each holds what it has read and decoded
// until it is stored: without a bound, 10,000 hosts that boot together keep the decoded inventories of
// all that wait for the one writer in memory (rss_mib of `make bench-hub`).
const atOnce = 8

// gate lets attempts in, in the order in which they came. The zero value is ready.
type gate struct {
	once  sync.Once
	slots *semaphore.Weighted
}

// enter waits until an attempt may begin; leave tells that it has ended.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	g.once.Do(func() { g.slots = semaphore.NewWeighted(atOnce) })
	if err := g.slots.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for other units of work: %w", err)
	}
	return func() { g.slots.Release(1) }, nil
}
