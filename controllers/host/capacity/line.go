package capacity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Line is a queue at one moment: who works, and who waits, in which order. It is never
// changed, so that a rehearsal goes on from one as often as it likes. The zero value is
// the line of a new queue.
type Line struct {
	holders map[types.NamespacedName][]scope
	waiting []waiter
	closed  map[string]bool
}

// Line is what the queue holds now.
func (q *Queue) Line() Line {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Line{maps.Clone(q.holders), slices.Clone(q.waiting), maps.Clone(q.closed)}
}

// Load replaces all that the queue holds; nobody is let in by that.
func (q *Queue) Load(l Line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.used)
	clear(q.holders)
	clear(q.closed)
	maps.Copy(q.closed, l.closed)
	q.waiting = slices.Clone(l.waiting)
	for key, scopes := range l.holders {
		q.count(key, scopes)
	}
}

// AtWork are the hosts that hold a slot, by name.
func (l Line) AtWork() []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(l.holders), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
}

// Waiting are the hosts in line, the first one first.
func (l Line) Waiting() []types.NamespacedName {
	keys := make([]types.NamespacedName, len(l.waiting))
	for i, w := range l.waiting {
		keys[i] = w.key
	}
	return keys
}

// String tells lines apart, but for when their hosts came.
func (l Line) String() string {
	return fmt.Sprint("at work ", l.AtWork(), ", in line ", l.Waiting(), ", closed ", l.closed)
}
