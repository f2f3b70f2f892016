package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// stuckVerifying is a host whose node is being verified and does not get on.
func stuckVerifying(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, assisted(nil), policy.Settings{}, nil)
	w.until("verifying", time.Minute, func(h *metal3.BareMetalHost) bool {
		n, _ := w.sim.Node(nodespec.NodeName(h))
		return n.ProvisionState == "verifying"
	})
	w.sim.Edit(nodespec.NodeName(w.host()), map[string]any{"provision_state": "verifying"}) // and nobody works on it any more
	return w
}

// TestVerifyingHasAnEnd has Ironic's conductor die while it verifies a BMC: the host
// says so, looks again less and less often, and goes on when the node is put back.
func TestVerifyingHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := stuckVerifying(t)
		defer w.stop()
		let(15*time.Minute - time.Minute)
		g.Expect(w.host().Status.ErrorType).To(BeEmpty())
		w.until("failing", 2*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
		g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring("verifying"), ContainSubstring("conductor")))
		g.Expect(condition(w.host(), metal3.ManageableCondition).Reason).To(Equal(metal3.RegistrationFailedReason))
		w.until("tried again", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorCount == 2 })
		w.sim.ResetCounts()
		let(24 * time.Hour)
		h := w.host()
		g.Expect(h.Status.ErrorType).To(Equal(metal3.RegistrationError))
		g.Expect(h.Status.ErrorCount).To(And(BeNumerically(">", 6), BeNumerically("<", 16)))
		g.Expect(w.sim.Counts()["GET /v1/nodes/{node}"]).To(BeNumerically("<", 16))
		g.Expect(w.sim.Counts()["GET /v1/nodes"]).To(BeNumerically("<", 24*60*2.3), "it is not looked for every second")

		w.sim.Restart()
		w.untilState(metal3.StateAvailable, 3*time.Minute)
		g.Expect(w.host().Status.ErrorType).To(BeEmpty())
	})
}

// TestVerifyingIsCutOffByARestart has Ironic put the node back, as it does at its start.
func TestVerifyingIsCutOffByARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := stuckVerifying(t)
		defer w.stop()
		w.sim.Restart()
		w.untilState(metal3.StateAvailable, time.Minute)
		w.g.Expect(w.host().Status.ErrorCount).To(BeZero())
	})
}

// TestDeletionOfAHostThatIsVerifiedForEver removes the node in maintenance when it has
// been verified for too long; while Ironic holds it, the host says who does.
func TestDeletionOfAHostThatIsVerifiedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := stuckVerifying(t)
		defer w.stop()
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.until("shown", 2*15*time.Minute, func(h *metal3.BareMetalHost) bool {
			return condition(h, metal3.ProgressingCondition).Message != "" && w.sim.Counts()["PUT /v1/nodes/{node}/maintenance"] > 0
		})
		w.sim.Edit(nodespec.NodeName(w.host()), map[string]any{"reservation": nil})
		w.until("gone", 2*time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
		w.g.Expect(w.sim.Nodes()).To(BeEmpty())
	})
}
