package host

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// entrance bounds how many hosts begin something at the same moment, where Ironic
// has not called for them. To begin costs the API server less than to go on: when a
// whole fleet is asked to move, hosts would begin faster than they can be carried
// on, and machines would wait in rows for their next step. Those that Ironic has
// called for pass by freely, so that the fewer of them there are, the faster new
// ones get in.
type entrance struct {
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

func newEntrance(places int) *entrance {
	return &entrance{
		places: places, waiting: map[types.NamespacedName]bool{},
		called: map[types.NamespacedName]bool{}, letIn: map[types.NamespacedName]bool{},
	}
}

// open says how hosts are woken whose turn it is. Before, all are let in.
func (e *entrance) open(wake func(types.NamespacedName)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wake = wake
}

// call lets a host pass by the next time.
func (e *entrance) call(key types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wake != nil {
		e.called[key] = true
	}
}

// enter tells whether a host may be worked on now. One that may not is woken when
// its turn comes. leave, unless nil, has to be called at the end.
func (e *entrance) enter(key types.NamespacedName) (leave func(), now bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.wake == nil:
		return nil, true
	case e.letIn[key]:
		delete(e.letIn, key)
		delete(e.called, key)
		return e.leave, true
	case e.called[key]:
		delete(e.called, key)
		return nil, true
	case e.places > 0:
		e.places--
		return e.leave, true
	case !e.waiting[key]:
		e.waiting[key] = true
		e.line = append(e.line, key)
	}
	return nil, false
}

// leave hands a place on to who is next.
func (e *entrance) leave() {
	e.mu.Lock()
	if len(e.line) == 0 {
		e.places++
		e.line = nil
		e.mu.Unlock()
		return
	}
	next, wake := e.line[0], e.wake
	e.line = e.line[1:]
	delete(e.waiting, next)
	e.letIn[next] = true
	e.mu.Unlock()
	wake(next)
}
