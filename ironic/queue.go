package ironic

import (
	"context"
	"sync"
)

// queue keeps the changes that nobody took yet, one for each node, in the order
// in which the nodes first changed. It is bounded by the number of nodes.
type queue struct {
	mu      sync.Mutex
	order   []string
	pending map[string]Change
	filled  chan struct{} // capacity 1
}

func newQueue() *queue {
	return &queue{pending: map[string]Change{}, filled: make(chan struct{}, 1)}
}

// push adds a change, or merges it with the one that waits.
func (q *queue) push(c Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, there := q.pending[c.UUID]
	if there {
		c = merged(waiting, c)
	} else {
		q.order = append(q.order, c.UUID)
	}
	q.pending[c.UUID] = c
	signal(q.filled)
}

// merged joins two changes of a node: the newest row, the oldest previous one,
// and the kind that says more.
func merged(first, second Change) Change {
	second.Previous = first.Previous
	if second.Kind == Changed {
		second.Kind = first.Kind
		if first.Kind == Vanished {
			second.Kind = Changed
		}
	}
	return second
}

func (q *queue) pop() (Change, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return Change{}, false
	}
	uuid := q.order[0]
	q.order = q.order[1:]
	c := q.pending[uuid]
	delete(q.pending, uuid)
	return c, true
}

// deliver hands changes over until the context ends.
func (q *queue) deliver(ctx context.Context, to chan<- Change) {
	for {
		c, ok := q.pop()
		if !ok {
			select {
			case <-q.filled:
				continue
			case <-ctx.Done():
				return
			}
		}
		select {
		case to <- c:
		case <-ctx.Done():
			return
		}
	}
}
