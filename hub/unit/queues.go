package unit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// queues let the units of this program that work on the same cluster come one
// after the other. Each writes the cluster's record, so of two at the same time one
// would be in vain: without them, 500 hosts of one cluster that boot together do
// their work several times over (`make bench-hub`). The zero value is ready.
type queues struct {
	mu  sync.Mutex
	all map[string]*queue
}

// queue is that of a cluster. It is there as long as somebody works or waits.
type queue struct {
	turn  chan struct{} // holds one while nobody works
	users int
}

// join returns the queue of a cluster.
func (q *queues) join(cluster string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.all[cluster]
	if own == nil {
		own = &queue{turn: make(chan struct{}, 1)}
		own.turn <- struct{}{}
		if q.all == nil {
			q.all = map[string]*queue{}
		}
		q.all[cluster] = own
	}
	own.users++
	return own
}

func (q *queues) leave(cluster string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.all[cluster]
	if own.users--; own.users == 0 {
		delete(q.all, cluster)
	}
}

// try takes the turn when nobody has it.
func (q *queues) try(cluster string) bool {
	select {
	case <-q.join(cluster).turn:
		return true
	default:
		q.leave(cluster)
		return false
	}
}

// wait takes the turn as soon as it comes.
func (q *queues) wait(ctx context.Context, cluster string) error {
	select {
	case <-q.join(cluster).turn:
		return nil
	case <-ctx.Done():
		q.leave(cluster)
		return whyEnded(ctx)
	}
}

// done gives the turn to the next.
func (q *queues) done(cluster string) {
	q.mu.Lock()
	own := q.all[cluster]
	q.mu.Unlock()
	own.turn <- struct{}{}
	q.leave(cluster)
}

// errBusy ends an attempt whose cluster somebody else works on.
var errBusy = errors.New("somebody else works on the cluster")

// turns are those that a unit of work has. They are kept over its attempts.
type turns struct {
	queues *queues
	mine   map[string]bool
	// wanted is the cluster that the last attempt ended for.
	wanted string
}

// take is called when a cluster is read. The attempt holds a connection to the
// store, so it does not wait with it.
func (t *turns) take(cluster string) error {
	if t.mine[cluster] {
		return nil
	}
	if !t.queues.try(cluster) {
		t.wanted = cluster
		return errBusy
	}
	t.mine[cluster] = true
	return nil
}

// wait waits for all turns that the next attempt needs. They are taken in the order
// of their names, so that no two units wait for each other.
func (t *turns) wait(ctx context.Context) error {
	need := append(slices.Collect(maps.Keys(t.mine)), t.wanted)
	t.release()
	t.wanted = ""
	slices.Sort(need)
	for _, cluster := range need {
		if err := t.queues.wait(ctx, cluster); err != nil {
			return err
		}
		t.mine[cluster] = true
	}
	return nil
}

func (t *turns) release() {
	for cluster := range t.mine {
		t.queues.done(cluster)
	}
	clear(t.mine)
}
