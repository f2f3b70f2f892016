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

// sampled is the quick sweep.
var sampled = []Plan{{Before, 9, every}, {After, 24, every}}

// TestSampledSweep lives each kind of life undisturbed, and then with the
// controller killed dozens of times, at requests all over it.
func TestSampledSweep(t *testing.T) {
	w := newWorld(t)
	var kills atomic.Int32
	t.Run("lives", func(t *testing.T) {
		w.sweep(t, Plan{}, &kills)
		for _, plan := range sampled {
			w.sweep(t, plan, &kills)
		}
	})
	t.Logf("%d kills", kills.Load())
	NewWithT(t).Expect(kills.Load()).To(BeNumerically(">", 14))
}

// sweep lives each kind of life by one plan.
func (w *world) sweep(t *testing.T, plan Plan, kills *atomic.Int32) {
	for _, k := range kinds {
		name := k.name + ", undisturbed"
		if plan.First > 0 {
			name = fmt.Sprintf("%s, killed %s, at number %d and each %d later", k.name, plan.When, plan.First, plan.Every)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := w.newLife(t, plan)
			l.live(k.stages, k.phases)
			t.Logf("%d requests, %d kills", len(l.gate.Journal()), l.gate.Kills())
			kills.Add(int32(l.gate.Kills()))
		})
	}
}
