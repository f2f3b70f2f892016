//go:build e2e

package crash

import (
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
)

// TestFullSweep kills the controller at every single request of every kind of
// life, at both moments.
func TestFullSweep(t *testing.T) {
	w := newWorld(t)
	var kills atomic.Int32
	t.Run("lives", func(t *testing.T) {
		for _, when := range []When{Before, After} {
			for first := range every {
				w.sweep(t, Plan{When: when, First: first + 1, Every: every}, &kills)
			}
		}
	})
	t.Logf("%d kills", kills.Load())
	NewWithT(t).Expect(kills.Load()).To(BeNumerically(">", 2*len(kinds)*every), "more than one in each life")
}
