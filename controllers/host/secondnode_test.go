package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestABMCThatHasANodeGetsNoOther: the host of a node is gone without it, and somebody has renamed the node. Another host of
// that machine, which boots from another network card, is not enrolled beside it, however the address of the BMC is spelt;
// it goes on when the node is its own, or is gone, and its deletion touches nothing.
func TestABMCThatHasANodeGetsNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		then    func(w *world, node string)
	}{
		"the node is named the host's": {"redfish://BMC.test:443/redfish/v1/Systems/1/", func(w *world, node string) {
			w.g.Expect(w.sim.Edit(node, map[string]any{"name": "lab~host-2"})).To(BeTrue())
			w.until("taken over", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.ID == node })
		}},
		"the node is removed, by another protocol": {"ipmi://bmc.test", func(w *world, node string) {
			w.sim.Remove(node)
			w.untilState(metal3.StateAvailable, 10*time.Minute)
		}},
		"it is deleted": {"redfish://bmc.test/redfish/v1/Systems/1", func(w *world, node string) {
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
			w.until("gone", time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
			n, there := w.sim.Node(node)
			w.g.Expect(there).To(BeTrue(), "the node of somebody else was removed")
			w.g.Expect(n.PowerState).To(Equal("power on"))
			w.g.Expect(n.ProvisionState).To(Equal("active"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				let(time.Minute)
				first := w.host()
				w.twin(c.address)
				w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
				w.halt()
				node := first.Status.Provisioning.ID
				w.g.Expect(w.sim.Edit(node, map[string]any{"name": "renamed"})).To(BeTrue())
				first.Finalizers = nil
				w.g.Expect(w.kube.Update(t.Context(), first)).To(Succeed())
				w.g.Expect(w.kube.Delete(t.Context(), first)).To(Succeed())
				w.start(policy.Settings{})
				let(time.Minute)
				w.g.Expect(w.sim.Nodes()).To(HaveLen(1), "the machine has a second node")
				w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("NodeOfAnotherHost"))
				w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring(node), ContainSubstring("lab~host-2"), Not(ContainSubstring("renamed"))))
				c.then(w, node)
			})
		})
	}
}
