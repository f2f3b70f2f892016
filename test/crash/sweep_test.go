package crash

import (
	"fmt"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
)

// every is the distance of two kills in one life. A start alone takes about a
// dozen requests, so that there is some life between two deaths.
const every = 31

// sampled is the quick sweep: the plans take turns over the kinds of life.
var sampled = []Plan{{Before, 9, every}, {After, 24, every}, {Before, 17, every}, {After, 5, every}}

// TestSampledSweep lives each kind of life once, with the controller killed at
// requests all over it.
func TestSampledSweep(t *testing.T) {
	w := newWorld(t)
	var kills atomic.Int32
	t.Run("lives", func(t *testing.T) {
		for i, k := range kinds {
			w.live(t, k, sampled[i%len(sampled)], &kills)
		}
	})
	t.Logf("%d kills", kills.Load())
	NewWithT(t).Expect(kills.Load()).To(BeNumerically(">", 2*len(kinds)))
}

// live takes one host through a kind of life by a plan, as a sub-test.
func (w *world) live(t *testing.T, k kind, plan Plan, kills *atomic.Int32) {
	name := k.name + ", undisturbed"
	if plan.First > 0 {
		name = fmt.Sprintf("%s, killed %s, at number %d and each %d later", k.name, plan.When, plan.First, plan.Every)
	}
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		l := w.newLife(t, plan)
		l.live(k)
		t.Logf("%d requests, %d kills", len(l.gate.Journal()), l.gate.Kills())
		kills.Add(int32(l.gate.Kills()))
	})
}
