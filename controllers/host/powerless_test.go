package host

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
)

// TestUnknownPower has Ironic not know whether a machine runs, without a fault: the
// host says so, what it waits for and what to do, and goes on when that is known.
func TestUnknownPower(t *testing.T) {
	for name, power := range map[string]any{"null": nil, "error": "error"} {
		t.Run(name, func(t *testing.T) {
			eachAtRest(t, func(t *testing.T, w *world) {
				g := NewWithT(t)
				n, _ := w.sim.Node(nodespec.NodeName(w.host()))
				w.sim.Edit(n.Name, map[string]any{"power_state": power, "last_error": "HTTP 500 from the BMC"})
				w.until("told", time.Minute, func(h *metal3.BareMetalHost) bool {
					return condition(h, metal3.ManageableCondition).Reason == "PowerStateUnknown"
				})
				h := w.host()
				g.Expect(condition(h, metal3.ManageableCondition).Message).To(And(ContainSubstring("HTTP 500 from the BMC"), ContainSubstring("Next: ")))
				g.Expect(condition(h, metal3.ProgressingCondition).Message).To(ContainSubstring("waiting for Ironic to learn"))
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = !h.Spec.Online })
				let(time.Hour)
				g.Expect(w.touched()).To(BeEmpty(), "nobody knows what would come of it")
				g.Expect(w.host().Status.PoweredOn).To(Equal(h.Status.PoweredOn))

				w.sim.Edit(n.Name, map[string]any{"power_state": n.PowerState, "last_error": nil})
				w.until("told that it is known", time.Minute, func(h *metal3.BareMetalHost) bool {
					return condition(h, metal3.ManageableCondition).Reason == metal3.ManageableReason
				})
				w.until("as wanted", time.Minute+180*time.Second, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn == h.Spec.Online })
			})
		})
	}
}
