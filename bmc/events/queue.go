package events

import (
	"context"
	"sync"

	"github.com/ironflow/ironflow/bmc/events/meaning"
)

// queue holds what was taken until the sink gets it. It is bounded by the number of
// events, in all and for each host.
type queue struct {
	most  int
	ready chan struct{}

	mu    sync.Mutex
	items []item
	size  int
}

// item is the events of one delivery, or the wish to look at the host.
type item struct {
	entry  *entry
	events []meaning.Event
	look   bool
}

// hostShare is the part of the queue that one host may fill.
const hostShare = 32

func (q *queue) init(most int) {
	q.most, q.ready = most, make(chan struct{}, 1)
}

// put queues events, unless there is no room.
func (q *queue) put(e *entry, events []meaning.Event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size+len(events) > q.most || e.queued+len(events) > max(q.most/hostShare, meaning.MaxEvents) {
		return false
	}
	q.size += len(events)
	e.queued += len(events)
	q.push(item{entry: e, events: events})
	return true
}

// look queues the wish to look at a host, once. There is room for each host's.
func (q *queue) look(e *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !e.looking {
		e.looking = true
		q.push(item{entry: e, look: true})
	}
}

func (q *queue) push(i item) {
	q.items = append(q.items, i)
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// next waits for an item; false when the context ends.
func (q *queue) next(ctx context.Context) (item, bool) {
	for {
		if i, found := q.pop(); found {
			return i, ctx.Err() == nil
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return item{}, false
		}
	}
}

func (q *queue) pop() (item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item{}, false
	}
	i := q.items[0]
	q.items[0] = item{}
	q.items = q.items[1:]
	if len(q.items) == 0 {
		q.items = nil
	}
	if i.look {
		i.entry.looking = false
		return i, true
	}
	q.size -= len(i.events)
	i.entry.queued -= len(i.events)
	return i, true
}
