package model

import (
	"fmt"
	"time"
)

const (
	// longLife bounds what a world needs to come to rest by itself.
	longLife = 400
	// patience is how long a host may go on trying what fails.
	patience = 48 * time.Hour
)

// comesToRest goes on from a world as fair does, to its end, and says what is wrong
// with that. It ends early in a world that is known to come to rest.
func (r *run) comesToRest(w *World, known func(uint64) bool) (tail []string, broken string) {
	w = w.copy()
	began, been := w.Now, map[uint64]bool{}
	for range longLife {
		key := w.hash()
		switch {
		case known(key):
			return nil, ""
		case been[key]: // it goes round, as a host does that is looked at every few minutes
			w.checkAll()
			w.checkRecovered()
			return tail, w.broken
		}
		been[key] = true
		m, more := w.fair()
		if !more {
			w.checkAll()
		}
		if !more || w.Now.Sub(began) > patience {
			w.checkRecovered()
			return tail, w.broken
		}
		r.make(w, step{move: m})
		tail = append(tail, m.String())
		if w.broken != "" {
			return tail, w.broken
		}
	}
	return tail, fmt.Sprintf("NO END: after %d steps by itself it is still not at rest", longLife)
}

// checkAll checks the hosts of a world at rest, and that no node is left without one.
func (w *World) checkAll() {
	for _, id := range sortedKeys(w.nodes) {
		if n := w.nodes[id]; len(w.ownersOf(n.address)) == 0 && !n.abandoned {
			w.breaks("LEFT BEHIND: node %s is in Ironic, and the host of its machine is gone", n.Name)
		}
	}
	for _, key := range w.hosts() {
		w.checkRest(key)
	}
}
