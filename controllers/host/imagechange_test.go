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

// The producer of images changes one step by step: a host that waits boots none of
// the steps, and the new image when it is there.
func TestAHostWaitsForTheImageThatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{Settings: nodespec.Settings{BuildImages: true}}, wantInstall)
		defer w.stop()
		image := &metal3.PreprovisioningImage{}
		w.until("asked for", time.Minute, func(*metal3.BareMetalHost) bool { return w.kube.Get(t.Context(), w.key, image) == nil })
		for _, step := range []struct {
			url    string
			ready  metav1.ConditionStatus
			text   string
			passes bool
		}{
			{"http://images/old.iso", metav1.ConditionFalse, "Config changed", false},
			{"", metav1.ConditionFalse, "Config changed", false},
			{"http://images/new.iso", metav1.ConditionTrue, "Generated image", true},
		} {
			g.Expect(w.kube.Get(t.Context(), w.key, image)).To(Succeed())
			image.Status = metal3.PreprovisioningImageStatus{
				ImageUrl: step.url, Format: metal3.ImageFormatISO, Architecture: image.Spec.Architecture,
				Conditions: []metav1.Condition{{Type: "Ready", Status: step.ready, Reason: "ImageSuccess", Message: step.text, ObservedGeneration: image.Generation}},
			}
			g.Expect(w.kube.Status().Update(t.Context(), image)).To(Succeed())
			if step.passes {
				w.untilState(metal3.StateProvisioned, time.Minute)
				break
			}
			let(10 * time.Minute)
			g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateInspecting))
			g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring("Config changed"), "it is said why")
			n, _ := w.sim.Node(nodespec.NodeName(w.host()))
			g.Expect(n.Fields["driver_info"]).NotTo(HaveKey("deploy_iso"))
		}
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		g.Expect(n.Fields["driver_info"]).To(HaveKeyWithValue("deploy_iso", "http://images/new.iso"))
	})
}
