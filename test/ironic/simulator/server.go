package simulator

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/test/simserver"
)

// Server is a simulated Ironic. Its methods may be called at any time.
type Server struct {
	opts Options
	mux  *http.ServeMux

	counts simserver.Counts // of requests

	mu        sync.Mutex
	nodes     map[string]*node // by UUID
	names     map[string]*node
	sorted    []*node // by order of creation
	ports     map[string]*port
	order     order
	created   int
	timers    *simserver.Timers
	steps     map[string]int    // carried out, by "interface.step"
	failures  map[string]string // texts of steps that fail, by "interface.step"
	reactions []Reaction
	intercept func(*http.Request) *Fault
}

// New makes a server without nodes.
func New(o Options) *Server {
	o.complete()
	s := &Server{
		opts: o, nodes: map[string]*node{}, names: map[string]*node{}, ports: map[string]*port{},
		steps: map[string]int{}, failures: map[string]string{},
	}
	s.timers = simserver.NewTimers(&s.mu)
	s.mux = s.routes()
	return s
}

// Close ends all operations under way; nothing changes by itself afterwards.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timers.Stop()
}

// Node shows a node by UUID or name.
func (s *Server) Node(ident string) (Node, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(ident)
	if n == nil {
		return Node{}, false
	}
	return s.view(n), true
}

// Nodes shows all nodes in the order of their creation.
func (s *Server) Nodes() []Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Node, 0, len(s.sorted))
	for _, n := range s.sorted {
		all = append(all, s.view(n))
	}
	return all
}

// Transport answers requests without a network; see [simserver.Transport].
func (s *Server) Transport() http.RoundTripper { return simserver.Transport(s) }

// Counts returns how many requests came in, by verb and path pattern, such as
// "PUT /v1/nodes/{node}/states/provision".
func (s *Server) Counts() map[string]int { return s.counts.All() }

// Total returns how many requests came in whose pattern has the prefix, such as
// "GET " or "" for all.
func (s *Server) Total(prefix string) int { return s.counts.Total(prefix) }

// ResetCounts starts counting requests and reactions anew.
func (s *Server) ResetCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Reset()
	s.reactions = nil
	for _, n := range s.sorted {
		n.ended = time.Time{}
	}
}

// find looks a node up by UUID or name; the lock is held.
func (s *Server) find(ident string) *node {
	if n, ok := s.nodes[ident]; ok {
		return n
	}
	return s.names[ident]
}

// add puts a new node into the database; the lock is held.
func (s *Server) add(n *node) {
	s.created++
	n.id = s.created
	s.nodes[n.uuid] = n
	if n.name != "" {
		s.names[n.name] = n
	}
	s.sorted = append(s.sorted, n)
}

// drop takes a node and its ports out of the database; the lock is held.
func (s *Server) drop(n *node) {
	n.epoch++
	delete(s.nodes, n.uuid)
	delete(s.names, n.name)
	s.order.remove(n)
	i, _ := slices.BinarySearchFunc(s.sorted, n.id, func(x *node, id int) int { return x.id - id })
	s.sorted = slices.Delete(s.sorted, i, i+1)
	for _, p := range n.ports {
		delete(s.ports, p.address)
	}
}

// changed records that a node was written; the lock is held.
func (s *Server) changed(n *node) {
	n.updated = time.Now()
	s.order.touch(n)
}

// after runs a function with the lock held, unless the node's operation has
// ended or been replaced by then; the lock is held.
func (s *Server) after(n *node, d time.Duration, f func()) {
	epoch := n.epoch
	s.timers.After(d, func() {
		if n.epoch == epoch {
			f()
		}
	})
}
