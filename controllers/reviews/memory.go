package reviews

import (
	"sync"
	"time"
)

const (
	// GrantedFor is how long a good answer is remembered, as in the API server's own filter.
	GrantedFor = time.Minute
	// DeniedFor is how long a bad one is: a right that was just given counts soon.
	DeniedFor = 10 * time.Second
	// remembered bounds the memory that made-up tokens can take.
	remembered = 1000
)

// Memory keeps answers for a while. The zero value is empty; it is safe for concurrent use.
type Memory[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]answer[V]
}

type answer[V any] struct {
	value V
	until time.Time
}

// Get returns an answer that still counts.
func (m *Memory[K, V]) Get(key K, now time.Time) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, there := m.known[key]
	return a.value, there && now.Before(a.until)
}

// Put keeps an answer for as long, and drops what is over when there are many.
func (m *Memory[K, V]) Put(key K, value V, now time.Time, lasts time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= remembered {
		for old, kept := range m.known {
			if now.After(kept.until) {
				delete(m.known, old)
			}
		}
	}
	if m.known == nil || len(m.known) >= remembered {
		m.known = map[K]answer[V]{}
	}
	m.known[key] = answer[V]{value, now.Add(lasts)}
}
