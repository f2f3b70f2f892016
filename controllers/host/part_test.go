package host

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestAHostIsLetGoOfInAPassOfItsOwn deletes a host: the pass that removes its node
// ends there, and the next one does not ask Ironic again what is known.
func TestAHostIsLetGoOfInAPassOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.sim.ResetCounts()
		ended := w.onPass(func(r ctrl.Result) bool { return r.RequeueAfter == releaseDelay })
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		<-ended
		looks := w.sim.Counts()["GET /v1/nodes/{node}"]
		w.until("gone", time.Second, func(h *metal3.BareMetalHost) bool { return h == nil })
		counts := w.sim.Counts()
		g.Expect(counts).To(HaveKeyWithValue("DELETE /v1/nodes/{node}", 1))
		g.Expect(looks).To(BeNumerically("<=", 3), "at its deletion, while its power changes, and then")
		g.Expect(counts).To(HaveKeyWithValue("GET /v1/nodes/{node}", looks), "none after its end")
	})
}

// TestAFinalizerThatIsTakenAwayIsPutBack: at once, since the host could vanish with its
// machine in any state.
func TestAFinalizerThatIsTakenAwayIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.edit(func(h *metal3.BareMetalHost) { h.Finalizers = nil })
		w.until("held again", time.Second, func(h *metal3.BareMetalHost) bool { return slices.Contains(h.Finalizers, names.HostFinalizer) })
	})
}
