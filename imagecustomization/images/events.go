package images

import (
	"context"
	"sync"
	"time"
)

// EventKind says what an [Event] is about.
type EventKind string

// The kinds of events.
const (
	// ReadProgressed: more of the image was read than at the last event.
	ReadProgressed EventKind = "ReadProgressed"
	// ReaderStalled: a reader took too little for too long and was dropped.
	ReaderStalled EventKind = "ReaderStalled"
)

// Event tells about the reading of one image.
type Event struct {
	// Key is the image's key, "namespace/name".
	Key string
	// Kind says what happened.
	Kind EventKind
	// Percent is the share of the image that was read at least once, 0 to 100.
	Percent float64
	// Readers is how many connections read it now.
	Readers int
	// Time is when it happened.
	Time time.Time
}

const (
	tellEvery = time.Second
	tellStep  = 5.0 // percent
)

// teller decides when a progress event is due: every five percent, and at most
// once a second otherwise; never without news. A read that begins anew is news.
type teller struct {
	mu      sync.Mutex
	at      time.Time
	percent float64
}

func (t *teller) due(now time.Time, percent float64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.at.IsZero() || percent < t.percent && now.Sub(t.at) > readPause
	news := percent > t.percent
	if !first && !(news && (now.Sub(t.at) >= tellEvery || int(percent/tellStep) > int(t.percent/tellStep))) {
		return false
	}
	t.at, t.percent = now, percent
	return true
}

// subscribers hands events to everybody who watches. A slow watcher never
// blocks a reader: it gets the latest event of each key and kind.
type subscribers struct {
	mu  sync.Mutex
	all map[*subscriber]bool
}

type subscriber struct {
	mu      sync.Mutex
	pending map[pendingKey]Event
	order   []pendingKey
	wake    chan struct{}
}

type pendingKey struct {
	key  string
	kind EventKind
}

func (s *subscribers) tell(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sub := range s.all {
		sub.put(e)
	}
}

func (s *subscriber) put(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := pendingKey{e.Key, e.Kind}
	if _, waits := s.pending[k]; !waits {
		s.order = append(s.order, k)
	}
	s.pending[k] = e
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscriber) take() (Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		return Event{}, false
	}
	k := s.order[0]
	s.order = s.order[1:]
	e := s.pending[k]
	delete(s.pending, k)
	return e, true
}

// watch subscribes until ctx ends; the channel is closed then.
func (s *subscribers) watch(ctx context.Context) <-chan Event {
	sub := &subscriber{pending: map[pendingKey]Event{}, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	if s.all == nil {
		s.all = map[*subscriber]bool{}
	}
	s.all[sub] = true
	s.mu.Unlock()
	out := make(chan Event)
	go func() {
		defer close(out)
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.all, sub)
		}()
		for {
			e, ok := sub.take()
			if !ok {
				select {
				case <-sub.wake:
					continue
				case <-ctx.Done():
					return
				}
			}
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
