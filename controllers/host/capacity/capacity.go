// Package capacity decides which hosts may do heavy work at the same time: boot
// a live image, be inspected, cleaned, deployed.
//
// A [Queue] counts the hosts at work against limits that may overlap (all hosts,
// those that boot over the network, those of one Ironic, those of one failure
// domain) and keeps the others waiting: first come, first served, and nobody is
// overtaken on a slot that it could have used. It is memory only: who is at work
// after a restart is told with [Queue.Hold], and who was in line before it with
// [Queue.Restore]. It knows neither Ironic nor the API server.
package capacity

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Limits are how many hosts may be at work at once; 0 means no limit.
type Limits struct {
	// Total counts all hosts.
	Total int
	// Network counts the hosts that load their live image over the network boot
	// of Ironic, not by virtual media.
	Network int
	// Ironic counts the hosts of each Ironic.
	Ironic int
	// Domain counts the hosts of each failure domain.
	Domain int
}

// Place is what of a host counts for the limits.
type Place struct {
	// Network is true for a host that boots over the network.
	Network bool
	// Ironic is the name of its endpoint.
	Ironic string
	// Domain is its failure domain; empty for none.
	Domain string
}

// Verdict is the answer to a host that asks.
type Verdict struct {
	// Granted means that the host may work.
	Granted bool
	// Limit names the limit that it waits for, such as "failure domain rack-1"; empty
	// while its Ironic is closed.
	Limit string
	// Of is how many hosts that limit allows.
	Of int
	// Ahead is how many hosts wait for the same limit and came first.
	Ahead int
}

// scope is one counter with its limit.
type scope struct {
	name  string
	limit int
}

// scopes are the limits that concern a place.
func (l Limits) scopes(p Place) []scope {
	var list []scope
	add := func(concerned bool, limit int, name string) {
		if concerned && limit > 0 {
			list = append(list, scope{name, limit})
		}
	}
	add(true, l.Total, "all hosts")
	add(p.Network, l.Network, "hosts that boot over the network")
	add(true, l.Ironic, "Ironic "+p.Ironic)
	add(p.Domain != "", l.Domain, "failure domain "+p.Domain)
	return list
}

// waiter is a host that waits.
type waiter struct {
	key    types.NamespacedName
	ironic string
	scopes []scope
	since  time.Time // for one that was in line before the start; zero for one that has come since
}

// Queue counts the hosts at work and keeps the others in order. Make one with
// [New]; its methods are safe for concurrent use.
type Queue struct {
	limits Limits

	mu      sync.Mutex
	used    map[string]int                   // by scope
	holders map[types.NamespacedName][]scope // hosts at work, with what they use
	waiting []waiter                         // in the order in which they came
	closed  map[string]bool                  // Ironics whose hosts at work are not known yet
	granted func(types.NamespacedName)
}

// New makes an empty queue.
func New(l Limits) *Queue {
	return &Queue{
		limits: l, used: map[string]int{}, holders: map[types.NamespacedName][]scope{},
		closed:  map[string]bool{},
		granted: func(types.NamespacedName) {},
	}
}

// OnGrant sets what is called when a host that waited may work, or waits for something
// else from now on. It must not block, nor call the queue.
func (q *Queue) OnGrant(wake func(types.NamespacedName)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.granted = wake
}

// Limited reports whether any limit concerns a place.
func (q *Queue) Limited(p Place) bool { return len(q.limits.scopes(p)) > 0 }

// Close has the hosts of an Ironic wait until it is opened: who is at work there is
// not known.
func (q *Queue) Close(ironic string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed[ironic] = true
}

// Open lets the hosts of an Ironic in, now that those at work there are counted.
func (q *Queue) Open(ironic string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.closed, ironic)
	q.admit()
	for _, w := range q.waiting {
		if w.ironic == ironic {
			q.granted(w.key)
		}
	}
}

// Holds reports whether a host is counted as at work.
func (q *Queue) Holds(key types.NamespacedName) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, holds := q.holders[key]
	return holds
}

// Ask takes a slot for a host, or puts it in line. Asking again changes nothing.
func (q *Queue) Ask(key types.NamespacedName, p Place) Verdict {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, holds := q.holders[key]; holds {
		return Verdict{Granted: true}
	}
	i := slices.IndexFunc(q.waiting, func(w waiter) bool { return w.key == key })
	if i < 0 {
		i = len(q.waiting)
		q.waiting = append(q.waiting, waiter{key: key})
	}
	q.waiting[i].ironic, q.waiting[i].scopes = p.Ironic, q.limits.scopes(p) // its label may have changed
	full, waits := q.blocked(i)
	if !waits {
		q.take(i)
		return Verdict{Granted: true}
	}
	return Verdict{Limit: full.name, Of: full.limit, Ahead: q.ahead(i, full.name)}
}

// Hold counts a host as at work, whatever the limits say: it is.
func (q *Queue) Hold(key types.NamespacedName, p Place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, holds := q.holders[key]; holds {
		return
	}
	q.drop(key)
	q.count(key, q.limits.scopes(p))
}

// Restore gives a host that was in line before the start its place: by the time since when
// it waits, and before all that have come since the start. Its Ironic is yet closed, so
// that nobody is let in before all have theirs.
func (q *Queue) Restore(key types.NamespacedName, p Place, since time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, holds := q.holders[key]; holds {
		return
	}
	q.drop(key) // it may have asked already
	i := slices.IndexFunc(q.waiting, func(w waiter) bool { return w.since.IsZero() || w.since.After(since) })
	if i < 0 {
		i = len(q.waiting)
	}
	q.waiting = slices.Insert(q.waiting, i, waiter{key, p.Ironic, q.limits.scopes(p), since})
}

// Leave ends a host's work, or its wait, and lets others in.
func (q *Queue) Leave(key types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	scopes, held := q.holders[key]
	if !held {
		q.drop(key)
		return
	}
	delete(q.holders, key)
	for _, s := range scopes {
		if q.used[s.name]--; q.used[s.name] == 0 {
			delete(q.used, s.name)
		}
	}
	q.admit()
}

// admit lets in whoever has room, in order.
func (q *Queue) admit() {
	for i := 0; i < len(q.waiting); {
		if _, waits := q.blocked(i); waits {
			i++
			continue
		}
		key := q.waiting[i].key
		q.take(i)
		q.granted(key)
	}
}

// blocked returns the limit that keeps the i-th waiter from working: one that is
// used up, or none while its Ironic is closed.
func (q *Queue) blocked(i int) (scope, bool) {
	if q.closed[q.waiting[i].ironic] {
		return scope{}, true
	}
	for _, s := range q.waiting[i].scopes {
		if q.used[s.name] >= s.limit {
			return s, true
		}
	}
	return scope{}, false
}

// take moves the i-th waiter to those at work.
func (q *Queue) take(i int) {
	w := q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.count(w.key, w.scopes)
}

func (q *Queue) count(key types.NamespacedName, scopes []scope) {
	q.holders[key] = scopes
	for _, s := range scopes {
		q.used[s.name]++
	}
}

// drop takes a host out of the line.
func (q *Queue) drop(key types.NamespacedName) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w waiter) bool { return w.key == key })
}

// ahead counts who waits for a limit before the i-th waiter.
func (q *Queue) ahead(i int, name string) int {
	n := 0
	for _, w := range q.waiting[:i] {
		if slices.ContainsFunc(w.scopes, func(s scope) bool { return s.name == name }) {
			n++
		}
	}
	return n
}
