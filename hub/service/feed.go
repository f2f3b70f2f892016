package service

import (
	"sync"

	"github.com/ironflow/ironflow/hub/store"
)

// maxPending bounds what is kept for a subscriber; beyond it, it is told to look everywhere.
const maxPending = 10_000

// subscriber takes changes. A slow one holds nobody up: what it has not taken
// yet is kept once for each record and kind of change.
type subscriber struct {
	mu      sync.Mutex
	pending []store.Change
	known   map[store.Change]bool
	wake    chan struct{}
}

// Subscribe returns a channel of changes and the function that ends it. The
// channel is closed after cancel; cancel may be called more than once.
func (ev *events) Subscribe() (<-chan store.Change, func()) {
	s := &subscriber{wake: make(chan struct{}, 1)}
	out, done := make(chan store.Change), make(chan struct{})
	stop := ev.units.Store.Watch(s.add)
	go s.deliver(out, done)
	return out, sync.OnceFunc(func() {
		stop()
		close(done)
	})
}

func (s *subscriber) add(events []store.Change) {
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
func (s *subscriber) note(e store.Change) {
	all := store.Change{What: store.ChangedAll}
	switch {
	case s.known[e] || s.known[all]:
	case e == all || len(s.pending) == maxPending:
		s.pending, s.known = []store.Change{all}, map[store.Change]bool{all: true}
	default:
		if s.known == nil {
			s.known = map[store.Change]bool{}
		}
		s.pending, s.known[e] = append(s.pending, e), true
	}
}

func (s *subscriber) deliver(out chan<- store.Change, done <-chan struct{}) {
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

func (s *subscriber) take() []store.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending, s.known = nil, nil
	return taken
}
