package service

import (
	"sync"

	"github.com/ironflow/ironflow/hub/store"
)

// What tells what changed about a record.
type What = store.What

// The changes that are announced.
const (
	ChangedInfraEnv  = store.ChangedInfraEnv
	ChangedCluster   = store.ChangedCluster
	ChangedHost      = store.ChangedHost
	ChangedStatus    = store.ChangedStatus
	ChangedProgress  = store.ChangedProgress
	ChangedInventory = store.ChangedInventory
	ChangedDeleted   = store.ChangedDeleted
	ChangedAll       = store.ChangedAll
)

// Event announces a stored change, of this program or of another one over the
// same store. It says where to look, not what to find. [ChangedAll] says that
// events may be missing: look everywhere.
type Event = store.Change

// maxPending bounds what is kept for a subscriber; beyond it, it is told to look everywhere.
const maxPending = 10_000

// subscriber takes changes. A slow one holds nobody up: what it has not taken
// yet is kept once for each record and kind of change.
type subscriber struct {
	mu      sync.Mutex
	pending []Event
	known   map[Event]bool
	wake    chan struct{}
}

// Subscribe returns a channel of changes and the function that ends it. The
// channel is closed after cancel; cancel may be called more than once.
func (h *Hub) Subscribe() (<-chan Event, func()) {
	s := &subscriber{wake: make(chan struct{}, 1)}
	out, done := make(chan Event), make(chan struct{})
	stop := h.store.Watch(s.add)
	go s.deliver(out, done)
	return out, sync.OnceFunc(func() {
		stop()
		close(done)
	})
}

func (s *subscriber) add(events []Event) {
	s.mu.Lock()
	for _, e := range events {
		s.note(e)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// note keeps one change, unless what is kept says as much.
func (s *subscriber) note(e Event) {
	all := Event{What: ChangedAll}
	switch {
	case s.known[e] || s.known[all]:
	case e == all || len(s.pending) == maxPending:
		s.pending, s.known = []Event{all}, map[Event]bool{all: true}
	default:
		if s.known == nil {
			s.known = map[Event]bool{}
		}
		s.pending, s.known[e] = append(s.pending, e), true
	}
}

func (s *subscriber) deliver(out chan<- Event, done <-chan struct{}) {
	defer close(out)
	for {
		select {
		case <-done:
			return
		case <-s.wake:
		}
		for _, e := range s.take() {
			select {
			case out <- e:
			case <-done:
				return
			}
		}
	}
}

func (s *subscriber) take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending, s.known = nil, nil
	return taken
}
