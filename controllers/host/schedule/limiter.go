package schedule

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// startPlaces is how many hosts that are not urgent are looked at at once.
const startPlaces = 6

// startLimiter bounds how many hosts that nobody waits for are worked on at once.
//
// A host is urgent when Ironic has done its part: the machine waits for its next
// step. Urgent hosts pass freely. All others wait in line for one of a few places:
// hosts that begin, hosts that are let go of, hosts that only have progress to show.
// So a fleet that begins all at once leaves the API server room for the machines
// that wait. Figures: docs/scheduling.md.
type startLimiter struct {
	mu     sync.Mutex
	places int
	wake   func(types.NamespacedName)
	line   []types.NamespacedName
	urgent map[types.NamespacedName]bool
	// standing has the hosts in line, and those whose turn it is: they hold a place
	// and are on their way.
	standing map[types.NamespacedName]standing
}

// standing is how far a host is that has to wait.
type standing string

const (
	inLine standing = "in line"
	chosen standing = "chosen"
)

func newStartLimiter(places int) *startLimiter {
	return &startLimiter{places: places, urgent: map[types.NamespacedName]bool{}, standing: map[types.NamespacedName]standing{}}
}

// open says how a host is woken whose turn it is. Before, all pass.
func (l *startLimiter) open(wake func(types.NamespacedName)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake = wake
}

// hurry lets a host pass the next time.
func (l *startLimiter) hurry(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.urgent[key] = true
}

// start tells whether a host may be worked on now; done has to be called at the end.
// One that may not is in line, and is woken when its turn comes.
func (l *startLimiter) start(key types.NamespacedName) (done func(), now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	urgent := l.urgent[key]
	delete(l.urgent, key)
	switch {
	case l.standing[key] == chosen:
		delete(l.standing, key)
		return l.leave, true
	case urgent, l.wake == nil:
		return func() {}, true
	case l.places > 0:
		l.places--
		return l.leave, true
	case l.standing[key] != inLine:
		l.standing[key] = inLine
		l.line = append(l.line, key)
	}
	return nil, false
}

// waits reports whether a host is in line, or on its way since its turn came.
func (l *startLimiter) waits(key types.NamespacedName) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, waits := l.standing[key]
	return waits
}

// leave hands a place on to who is next.
func (l *startLimiter) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) == 0 {
		l.places++
		return
	}
	next := l.line[0]
	l.line = l.line[1:]
	l.standing[next] = chosen
	l.wake(next)
}
