package host

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// gate bounds how many hosts of a kind are worked on at the same moment. There are
// two, so that workers are left for hosts whose machines wait.
//
// The entrance is for hosts that begin something where Ironic has not called for
// them. To begin costs the API server less than to go on: when a whole fleet is asked
// to move, hosts would begin faster than they can be carried on, and machines would
// wait in rows for their next step. Those that Ironic has called for pass by freely,
// so that the fewer of them there are, the faster new ones get in.
//
// The exit is for hosts whose node is gone: what is left is to let go of them, one
// write to Kubernetes after the other.
type gate struct {
	mu     sync.Mutex
	places int
	wake   func(types.NamespacedName)
	// line is who waits, in order; waiting has the same.
	line    []types.NamespacedName
	waiting map[types.NamespacedName]bool
	// called are hosts that somebody waits for, let in those that hold a place and
	// are on their way.
	called, letIn map[types.NamespacedName]bool
}

func newGate(places int) *gate {
	return &gate{
		places: places, waiting: map[types.NamespacedName]bool{},
		called: map[types.NamespacedName]bool{}, letIn: map[types.NamespacedName]bool{},
	}
}

// open says how hosts are woken whose turn it is. Before, all are let in.
func (g *gate) open(wake func(types.NamespacedName)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wake = wake
}

// call lets a host pass by the next time.
func (g *gate) call(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wake != nil {
		g.called[key] = true
	}
}

// crowded tells whether hosts wait for a place.
func (g *gate) crowded() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.line) > 0
}

// forget drops a host that is gone.
func (g *gate) forget(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.called, key)
}

// enter tells whether a host may be worked on now. One that may not is woken when
// its turn comes. leave, unless nil, has to be called at the end.
func (g *gate) enter(key types.NamespacedName) (leave func(), now bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.wake == nil:
		return nil, true
	case g.letIn[key]:
		delete(g.letIn, key)
		delete(g.called, key)
		return g.leave, true
	case g.called[key]:
		delete(g.called, key)
		return nil, true
	case g.places > 0:
		g.places--
		return g.leave, true
	case !g.waiting[key]:
		g.waiting[key] = true
		g.line = append(g.line, key)
	}
	return nil, false
}

// yield gives back the place of a host that was woken for its turn and has to pass
// another gate by now.
func (g *gate) yield(key types.NamespacedName) {
	g.mu.Lock()
	held := g.letIn[key]
	delete(g.letIn, key)
	g.mu.Unlock()
	if held {
		g.leave()
	}
}

// leave hands a place on to who is next.
func (g *gate) leave() {
	g.mu.Lock()
	if len(g.line) == 0 {
		g.places++
		g.line = nil
		g.mu.Unlock()
		return
	}
	next, wake := g.line[0], g.wake
	g.line = g.line[1:]
	delete(g.waiting, next)
	g.letIn[next] = true
	g.mu.Unlock()
	wake(next)
}
