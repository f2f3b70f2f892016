package unit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// atOnce is how many attempts are under way at the same time, and how many more of units that have waited for their
// cluster's turn. Each holds what it has read and decoded until it is stored: without a bound, 10,000 hosts
// that boot together keep the decoded inventories of all that wait for the one writer in memory
// (rss_mib of `make bench-hub`). Units of a large cluster have their turn one after the other, each beside so many others:
// with 8 on one core, its hosts wait so long for the turn that they are refused a second time (refused_most of
// `make bench-hub CORES=1`).
const atOnce = 4

// patience is how long a unit waits for others in all. Agents give a call up after 30 s: a hub that is
// further behind would only work for those who are gone, so it tells the others to come later.
const patience = 25 * time.Second

// errLate ends a unit that was not begun in time.
var errLate = errors.New("others were first for too long")

// gate lets attempts in, in the order in which they came: what is let into the hub is answered in time (see [pace]), so
// that the oldest is worth as much as the newest, and nobody waits for ever. Whoever has a cluster's turn does not wait behind
// those who have none, or all hosts of the cluster would wait with it. The zero value is ready.
type gate struct {
	once            sync.Once
	others, holders *semaphore.Weighted
}

// enter waits until an attempt may begin, or for as long as the context allows; leave tells that it has ended.
func (g *gate) enter(ctx context.Context, hasTurn bool) (leave func(), err error) {
	g.once.Do(func() { g.others, g.holders = semaphore.NewWeighted(atOnce), semaphore.NewWeighted(atOnce) })
	slots := g.others
	if hasTurn {
		slots = g.holders
	}
	if err := slots.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for other units of work: %w", whyEnded(ctx))
	}
	return func() { slots.Release(1) }, nil
}

// whyEnded tells a patience that has ended from a caller that has gone.
func whyEnded(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errLate) {
		return errLate
	}
	return ctx.Err()
}
