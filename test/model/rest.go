package model

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/reconcile"
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
	began, been := w.Now, map[uint64]map[types.NamespacedName]time.Time{}
	for range longLife {
		key := w.hash()
		due, again := been[key]
		waits := w.waits(due)
		switch {
		case known(key):
			return nil, ""
		case !again:
			been[key] = maps.Clone(w.timers)
		case waits > 0:
			w.later(waits)
			r.toRest(w)
			continue
		default: // it goes round, as a host does that is looked at every few minutes
			w.checkAll()
			w.checkRecovered()
			return tail, w.broken
		}
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

// waits is how long it is to the turn of the next host that has not had its turn since it was due at
// one of these times; 0 for none.
func (w *World) waits(due map[types.NamespacedName]time.Time) time.Duration {
	var next time.Duration
	for key, at := range due {
		if now, is := w.timers[key]; is && now.Equal(at) && (next == 0 || at.Sub(w.Now) < next) {
			next = at.Sub(w.Now)
		}
	}
	return next
}

// heldWith reports a node that nobody may touch, or whose host nobody may: it stays where the host has another BMC.
func (w *World) heldWith(id string) bool {
	return w.nodes[id].MaintenanceReason == byHand || slices.ContainsFunc(w.hosts(), func(key types.NamespacedName) bool {
		h := w.host(key)
		return h.Status.Provisioning.ID == id && reconcile.KeptOff(h) != ""
	})
}

// checkAll checks the hosts of a world at rest, and that no node is left without one.
func (w *World) checkAll() {
	for _, id := range sortedKeys(w.nodes) {
		if n := w.nodes[id]; len(w.ownersOf(n.address)) == 0 && !n.abandoned && !w.heldWith(id) {
			w.breaks("LEFT BEHIND: node %s is in Ironic, and the host of its machine is gone", n.Name)
		}
	}
	for _, key := range w.hosts() {
		w.checkRest(key)
	}
	w.checkLine()
}
