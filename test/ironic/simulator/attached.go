package simulator

import (
	"maps"
	"slices"
)

// Media returns the address that was asked for of the image in a node's virtual
// CD drive; empty for none.
func (s *Server) Media(ident string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(ident); n != nil {
		return n.media.source
	}
	return ""
}

// LoseMedia empties a node's virtual CD drive behind Ironic's back, as a reset of
// the BMC does.
func (s *Server) LoseMedia(ident string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(ident); n != nil {
		n.media = media{}
	}
}

// Destinations lists where a node's BMC sends its events to, sorted.
func (s *Server) Destinations(ident string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(ident)
	if n == nil {
		return nil
	}
	var all []string
	for sub := range maps.Values(n.subs) {
		if to, ok := sub["Destination"].(string); ok {
			all = append(all, to)
		}
	}
	slices.Sort(all)
	return all
}

// LoseSubscriptions has a node's BMC forget its subscriptions, as a reset does.
func (s *Server) LoseSubscriptions(ident string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(ident); n != nil {
		clear(n.subs)
	}
}
