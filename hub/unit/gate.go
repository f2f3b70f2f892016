package unit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// atOnce is how many attempts are under way at the same time. Each holds what it has read and decoded until it is
// stored: without a bound, 10,000 hosts that boot together keep the decoded inventories of all that wait for the one
// writer in memory (rss_mib of `make bench-hub`). Units of a large cluster come one after the other, each beside so many
// others: the more there are, the longer its hosts wait (refused_most of `make bench-hub CORES=1`).
const atOnce = 4

// patience is how long a unit waits for others in all. Agents give a call up after 30 s: a hub that is
// further behind would only work for those who are gone, so it tells the others to come later.
const patience = 25 * time.Second

var (
	// errLate ends a unit that was not begun in time.
	errLate = errors.New("others were first for too long")
	// errBusy ends an attempt whose cluster somebody else works on, or waits for.
	errBusy = errors.New("somebody else works on the cluster")
)

// gate lets attempts in, in the order in which their units came: what is let into the hub is answered in time (see
// [pace]), so that the oldest is worth as much as the newest, and nobody waits for ever. Those that work on the same
// cluster come one after the other. Each writes the cluster's record, so of two at the same time one would be in vain:
// 500 hosts of one cluster that boot together would do their work several times over (`make bench-hub`). The zero value is
// ready.
type gate struct {
	mu sync.Mutex
	// units is how many have come, working how many attempts are under way.
	units, working int
	// waiting are in their order.
	waiting []*turn
	// busy are the clusters that are worked on, wanted those that are waited for, with by how many.
	busy   map[string]bool
	wanted map[string]int
}

// turn is a unit's place in the order, which it keeps over all of its attempts.
type turn struct {
	gate   *gate
	number int
	// clusters are those that the attempt works on, or the next one as far as is known. Which they are turns out when
	// they are read.
	clusters []string
	// lacks is the cluster that the attempt ended for.
	lacks string
	// come is closed when the attempt may begin.
	come chan struct{}
}

func (g *gate) join() *turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.units++
	return &turn{gate: g, number: g.units}
}

// enter waits until an attempt may begin, or for as long as the context allows. It has the clusters from then on
// until it leaves.
func (t *turn) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("wait for other units of work: %w", whyEnded(ctx))
	}
	t.wait()
	select {
	case <-t.come:
		return nil
	case <-ctx.Done():
	}
	t.giveUp()
	return fmt.Errorf("wait for other units of work: %w", whyEnded(ctx))
}

func (t *turn) wait() {
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	t.come = make(chan struct{})
	at, _ := slices.BinarySearchFunc(g.waiting, t, func(a, b *turn) int { return cmp.Compare(a.number, b.number) })
	g.waiting = slices.Insert(g.waiting, at, t)
	for _, cluster := range t.clusters {
		if g.wanted == nil {
			g.wanted = map[string]int{}
		}
		g.wanted[cluster]++
	}
	g.admit()
}

func (t *turn) giveUp() {
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := slices.Index(g.waiting, t); at >= 0 {
		g.remove(at)
	} else { // it was let in at the same moment
		g.end(t)
	}
	g.admit()
}

// leave follows enter.
func (t *turn) leave() {
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(t)
	g.admit()
}

// take is called when an attempt reads a cluster. The attempt holds a connection to the store, so it does not wait with
// it: if somebody else works on the cluster, or waits for it, the attempt ends, and the next one waits.
func (t *turn) take(cluster string) error {
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case slices.Contains(t.clusters, cluster):
		return nil
	case g.busy[cluster] || g.wanted[cluster] > 0:
		t.lacks = cluster
		return errBusy
	}
	t.clusters = append(t.clusters, cluster)
	g.hold(cluster)
	return nil
}

// admit lets in who may begin now, the first one first. Whoever waits for several clusters keeps them from those who
// came later, so that they are all free some time.
func (g *gate) admit() {
	kept := map[string]bool{}
	for at := 0; g.working < atOnce && at < len(g.waiting); {
		t := g.waiting[at]
		if slices.ContainsFunc(t.clusters, func(c string) bool { return g.busy[c] || kept[c] }) {
			for _, cluster := range t.clusters {
				kept[cluster] = true
			}
			at++
			continue
		}
		g.remove(at)
		for _, cluster := range t.clusters {
			g.hold(cluster)
		}
		g.working++
		close(t.come)
	}
}

func (g *gate) hold(cluster string) {
	if g.busy == nil {
		g.busy = map[string]bool{}
	}
	g.busy[cluster] = true
}

// end takes an attempt out that was under way. The next one also has the cluster that it lacked.
func (g *gate) end(t *turn) {
	g.working--
	for _, cluster := range t.clusters {
		delete(g.busy, cluster)
	}
	if t.lacks != "" {
		t.clusters, t.lacks = append(t.clusters, t.lacks), ""
	}
}

// remove takes one out who waits.
func (g *gate) remove(at int) {
	for _, cluster := range g.waiting[at].clusters {
		if g.wanted[cluster]--; g.wanted[cluster] == 0 {
			delete(g.wanted, cluster)
		}
	}
	g.waiting = slices.Delete(g.waiting, at, at+1)
}

// whyEnded tells a patience that has ended from a caller that has gone.
func whyEnded(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errLate) {
		return errLate
	}
	return ctx.Err()
}
