package service

import (
	"slices"
	"sync"
)

// What tells what changed about a record.
type What string

// The changes that are announced.
const (
	ChangedInfraEnv  What = "infra-env"
	ChangedCluster   What = "cluster"
	ChangedHost      What = "host"      // registered, settings, approval, binding
	ChangedStatus    What = "status"    // status or its text
	ChangedProgress  What = "progress"  // stage, percent
	ChangedInventory What = "inventory" // inventory, and with it the MAC addresses
	ChangedDeleted   What = "deleted"
)

// Event announces a stored change. It says where to look, not what to find.
type Event struct {
	InfraEnvID string
	// HostID is empty for changes of an infra-env or a cluster.
	HostID string
	// ClusterID is the host's or the cluster's own; empty for unbound hosts.
	ClusterID string
	What      What
}

// feed hands changes to its subscribers. A slow subscriber holds nobody up:
// what it has not taken yet is kept once for each record and kind of change.
type feed struct {
	mu          sync.Mutex
	subscribers []*subscriber
}

type subscriber struct {
	mu      sync.Mutex
	pending []Event
	wake    chan struct{}
}

// Subscribe returns a channel of changes and the function that ends it. The
// channel is closed after cancel; cancel may be called more than once.
func (h *Hub) Subscribe() (<-chan Event, func()) {
	s := &subscriber{wake: make(chan struct{}, 1)}
	out, done := make(chan Event), make(chan struct{})
	h.feed.mu.Lock()
	h.feed.subscribers = append(h.feed.subscribers, s)
	h.feed.mu.Unlock()
	go s.deliver(out, done)
	return out, sync.OnceFunc(func() {
		h.feed.mu.Lock()
		h.feed.subscribers = slices.DeleteFunc(h.feed.subscribers, func(o *subscriber) bool { return o == s })
		h.feed.mu.Unlock()
		close(done)
	})
}

func (f *feed) publish(events ...Event) {
	if len(events) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.subscribers {
		s.add(events)
	}
}

func (s *subscriber) add(events []Event) {
	s.mu.Lock()
	for _, e := range events {
		if !slices.Contains(s.pending, e) {
			s.pending = append(s.pending, e)
		}
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
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
	s.pending = nil
	return taken
}
