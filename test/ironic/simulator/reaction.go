package simulator

import (
	"net/http"
	"slices"
	"time"
)

// maxReactions bounds the times that are kept: those of 100,000 operations.
const maxReactions = 100_000

// Reaction is how long a node waited, after an operation of its had ended by itself,
// for the next request that names it.
type Reaction struct {
	Operation string // what had ended, as the node's history calls it
	Took      time.Duration
}

// news marks a node whose operation has ended by itself: somebody should look.
// The lock is held.
func (s *Server) news(n *node, operation string) { n.ended, n.endedWhat = time.Now(), operation }

// noticed books how long a node waited for the first request that names it after
// its operation had ended. Lists name no node. The lock is held.
func (s *Server) noticed(r *http.Request) {
	ident := r.PathValue("node")
	if ident == "" {
		ident = r.URL.Query().Get("node_uuid")
	}
	n := s.find(ident)
	if n == nil || n.ended.IsZero() {
		return
	}
	if len(s.reactions) < maxReactions {
		s.reactions = append(s.reactions, Reaction{n.endedWhat, time.Since(n.ended)})
	}
	n.ended = time.Time{}
}

// Reactions returns one for every operation that ended by itself since the last
// ResetCounts and that somebody has reacted to, in their order.
func (s *Server) Reactions() []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reactions)
}
