package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestADeploymentThatAnotherControllerHasBegunIsTakenOver, also by a node that has had one of ours before, as in a fleet that was
// given to baremetal-operator for a time: what it deploys is in no record.
func TestADeploymentThatAnotherControllerHasBegunIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		let(time.Minute)
		w.halt()
		w.edit(askFor("http://images.test/second.img"))
		h := w.host()
		h.Status.Provisioning.State = metal3.StateProvisioning
		h.Status.OperationHistory.Provision = metal3.OperationMetric{Start: metav1.Now().Rfc3339Copy()}
		w.g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
		w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{
			"provision_state": "active", "power_state": "power on", "instance_uuid": string(h.UID),
			"instance_info": map[string]any{"image_source": "http://images.test/second.img", "image_checksum": "c0ffee"},
		})).To(BeTrue())
		n, _ := w.sim.Node("lab~host-1")
		w.g.Expect(n.Fields["extra"]).To(HaveKey(nodespec.KeyBegun))
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		let(time.Hour)
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned), w.host().Status.ErrorMessage)
		w.runs()
	})
}
