package host

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/ironic/simulator"
)

// TestHostsAtWorkComeBeforeFarewells deletes a host: the pass that removes its node
// ends there, and lets the host go in a pass of its own, behind hosts whose machines
// wait, without asking Ironic again what it knows.
func TestHostsAtWorkComeBeforeFarewells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{}, Settings{}, nil)
		defer w.stop()
		w.untilState(metal3.StateAvailable, time.Minute)
		w.until("powered on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		let(time.Minute)
		w.sim.ResetCounts()
		ended := w.onPass(func(r ctrl.Result) bool { return r.Priority != nil })
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.poke()
		last := <-ended
		g.Expect(*last.Priority).To(And(BeNumerically(">", 0), BeNumerically("<", inFlight)))
		g.Expect(last.RequeueAfter).To(BeNumerically(">", 0))
		w.until("gone", time.Second, func(h *metal3.BareMetalHost) bool { return h == nil })
		counts := w.sim.Counts()
		g.Expect(counts).To(HaveKeyWithValue("DELETE /v1/nodes/{node}", 1))
		g.Expect(counts).To(HaveKeyWithValue("GET /v1/nodes/{node}", 3), "at its deletion, and as its power changes; none after its end")
	})
}
