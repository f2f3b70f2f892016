package schedule

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// startPlaces is how many hosts that are not urgent are looked at at once. Several
// Ironics share them out, and have one each at least.
const startPlaces = 6

// startLimiter bounds how many hosts that nobody waits for are worked on at once.
//
// A host is urgent when Ironic has done its part: the machine waits for its next
// step. Urgent hosts pass freely. All others wait in line for one of a few places:
// hosts that begin, hosts that are let go of, hosts that only have progress to show.
// So a fleet that begins all at once leaves the API server room for the machines
// that wait. Each Ironic has places and a line of its own, so that one that does not
// answer holds up its own hosts only. Figures: docs/scheduling.md.
type startLimiter struct {
	mu     sync.Mutex
	places int // of each Ironic
	wake   func(types.NamespacedName)
	lines  map[string]*line // by the name of the Ironic
	urgent map[types.NamespacedName]bool
	// waiting are the hosts in a line, and those whose turn it is: they hold a place
	// and are on their way.
	waiting map[types.NamespacedName]waiting
}

// line is what the hosts of one Ironic wait in, and for.
type line struct {
	places int // that are free
	hosts  []types.NamespacedName
}

// waiting is how far a host is that has to wait.
type waiting struct {
	in     *line
	chosen bool // it is the host's turn
}

func newStartLimiter(places int) *startLimiter {
	return &startLimiter{
		places: places, lines: map[string]*line{}, urgent: map[types.NamespacedName]bool{}, waiting: map[types.NamespacedName]waiting{},
	}
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

// start tells whether a host of an Ironic may be worked on now; done has to be called
// at the end. One that may not is in line, and is woken when its turn comes.
func (l *startLimiter) start(key types.NamespacedName, ironic string) (done func(), now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	urgent := l.urgent[key]
	delete(l.urgent, key)
	turn, waits := l.waiting[key]
	if turn.chosen {
		delete(l.waiting, key)
		return func() { l.leave(turn.in) }, true
	}
	if urgent || l.wake == nil {
		return func() {}, true
	}
	own := l.lineOf(ironic)
	if own.places > 0 {
		own.places--
		return func() { l.leave(own) }, true
	}
	if waits && turn.in != own { // it has moved
		turn.in.hosts = slices.DeleteFunc(turn.in.hosts, func(k types.NamespacedName) bool { return k == key })
	}
	if !waits || turn.in != own {
		l.waiting[key] = waiting{in: own}
		own.hosts = append(own.hosts, key)
	}
	return nil, false
}

// lineOf is the line of an Ironic's hosts.
func (l *startLimiter) lineOf(ironic string) *line {
	own := l.lines[ironic]
	if own == nil {
		own = &line{places: l.places}
		l.lines[ironic] = own
	}
	return own
}

// waits reports whether a host is in line, or on its way since its turn came.
func (l *startLimiter) waits(key types.NamespacedName) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, waits := l.waiting[key]
	return waits
}

// leave hands a place on to who is next in its line.
func (l *startLimiter) leave(in *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(in.hosts) == 0 {
		in.places++
		return
	}
	next := in.hosts[0]
	in.hosts = in.hosts[1:]
	l.waiting[next] = waiting{in: in, chosen: true}
	l.wake(next)
}
