package simserver

import (
	"maps"
	"strings"
	"sync"
)

// Counts counts requests by verb and path pattern, such as "GET /v1/nodes". The
// zero value is ready.
type Counts struct {
	mu sync.Mutex
	by map[string]int
}

// Add counts one request.
func (c *Counts) Add(pattern string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[pattern]++
}

// All returns how many requests came in, by pattern.
func (c *Counts) All() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.by)
}

// Total returns how many requests came in whose pattern has the prefix, such as
// "GET " or "" for all.
func (c *Counts) Total(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for pattern, n := range c.by {
		if strings.HasPrefix(pattern, prefix) {
			total += n
		}
	}
	return total
}

// Reset starts anew.
func (c *Counts) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.by)
}
