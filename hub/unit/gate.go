package unit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ironflow/ironflow/hub/refusal"
)

// atOnce is how many attempts are under way at the same time, and how many more of units that have their
// cluster's turn. Each holds what it has read and decoded until it is stored: without a bound, 10,000 hosts
// that boot together keep the decoded inventories of all that wait for the one writer in memory
// (rss_mib of `make bench-hub`).
const atOnce = 8

// gatePatience is how long an attempt waits for the others. Agents give a call up after 30 s: a hub that is
// further behind would only work for those who are gone, so it tells the others to come later.
const gatePatience = 25 * time.Second

// gate lets attempts in, in the order in which they came. Whoever has a cluster's turn does not wait behind
// those who have none, or all hosts of the cluster would wait with it. The zero value is ready.
type gate struct {
	once            sync.Once
	others, holders *semaphore.Weighted
}

// enter waits until an attempt may begin; leave tells that it has ended. After [gatePatience] it refuses
// with 503.
func (g *gate) enter(ctx context.Context, hasTurn bool) (leave func(), err error) {
	g.once.Do(func() { g.others, g.holders = semaphore.NewWeighted(atOnce), semaphore.NewWeighted(atOnce) })
	slots := g.others
	if hasTurn {
		slots = g.holders
	}
	patient, cancel := context.WithTimeout(ctx, gatePatience)
	defer cancel()
	if err := slots.Acquire(patient, 1); err != nil {
		if ctx.Err() == nil { // it is the patience that has ended
			return nil, fmt.Errorf("%w: it has more to do than it gets through; ask again", refusal.ErrUnavailable)
		}
		return nil, fmt.Errorf("wait for other units of work: %w", err)
	}
	return func() { slots.Release(1) }, nil
}
