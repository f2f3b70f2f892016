package main

import (
	"net/http"
	"regexp"
	"sync"
	"time"

	ironicsim "github.com/ironflow/ironflow/test/ironic/simulator"
)

// calls is the simulated Ironic, and notes when a node was asked for.
type calls struct {
	ironic *ironicsim.Server

	mu sync.Mutex
	// awaited are the nodes, by name or UUID, whose next request somebody waits for.
	awaited map[string]chan<- time.Time
}

func newCalls(ironic *ironicsim.Server) *calls {
	return &calls{ironic: ironic, awaited: map[string]chan<- time.Time{}}
}

// nodePath finds the node that a request names.
var nodePath = regexp.MustCompile(`^/v1/nodes/([^/]+)`)

// ServeHTTP implements http.Handler.
func (c *calls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if found := nodePath.FindStringSubmatch(r.URL.Path); found != nil {
		c.asked(found[1], time.Now())
	}
	c.ironic.ServeHTTP(w, r)
}

func (c *calls) asked(node string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting, ok := c.awaited[node]; ok {
		delete(c.awaited, node)
		waiting <- now // has room for it
	}
}

// next is when a node is asked for the next time.
func (c *calls) next(node string) <-chan time.Time {
	asked := make(chan time.Time, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaited[node] = asked
	return asked
}
