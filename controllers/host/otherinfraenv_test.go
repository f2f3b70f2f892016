package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestTheImageOfAnotherInfraEnvIsNotDeployed: a host of a pool is given to another InfraEnv and switched on in one
// edit. Its live image, which holds the agent of the first one, is not deployed, whatever the image controller comes to
// and when; the image of the second one is.
func TestTheImageOfAnotherInfraEnvIsNotDeployed(t *testing.T) {
	for name, slow := range map[string]time.Duration{"it answers at once": 0, "it answers late": 20 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { otherInfraEnv(t, slow) })
		})
	}
}

func otherInfraEnv(t *testing.T, slow time.Duration) {
	t.Helper()
	w := newWorld(t, assisted(nil), policy.Settings{Settings: nodespec.Settings{BuildImages: true}}, func(h *metal3.BareMetalHost) {
		h.Labels = map[string]string{names.InfraEnvLabel: "env-1"}
		h.Spec.Online = false
		wantInstall(h) // as the linking controller asks, once the image is Ready
	})
	defer func() { w.stop() }()
	w.imageReady()
	w.untilState(metal3.StateAvailable, time.Minute)
	// It was in use before, and came back to the pool: its node names the image.
	w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = true })
	w.untilState(metal3.StateProvisioned, time.Minute)
	w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy, h.Spec.Online = nil, false })
	w.untilState(metal3.StateAvailable, 5*time.Minute)
	w.edit(wantInstall)
	let(time.Minute)
	before := count1(w.events.list(), "ProvisioningStarted")
	w.edit(func(h *metal3.BareMetalHost) {
		h.Labels[names.InfraEnvLabel] = "env-2"
		h.Spec.Online = true
	})
	let(slow)
	n, _ := w.sim.Node("lab~host-1")
	w.g.Expect(n.ProvisionState).To(Equal("available"), "before the image controller has seen the label")

	// env-2 does not exist yet: the image controller says so, and serves the old image on.
	for range 600 {
		w.imageOf("env-2", metav1.Condition{
			Status: metav1.ConditionFalse, Reason: "InfraEnvNotAvailable", Message: "InfraEnv lab/env-2 does not exist; create it",
		}, "http://images.test/host-1.iso")
		let(time.Millisecond)
	}
	let(5 * time.Minute)
	n, _ = w.sim.Node("lab~host-1")
	w.g.Expect(count1(w.events.list(), "ProvisioningStarted")).To(Equal(before+1), "the wish is seen")
	w.g.Expect(n.ProvisionState).To(Equal("available"), "with the agent of env-1")
	w.g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring("env-2 does not exist"))

	w.imageOf("env-2", metav1.Condition{Status: metav1.ConditionTrue, Reason: "InfraEnvAvailable"}, "http://images.test/host-1-env-2.iso")
	w.untilState(metal3.StateProvisioned, time.Minute)
	n, _ = w.sim.Node("lab~host-1")
	w.g.Expect(n.Fields["driver_info"]).To(HaveKeyWithValue("deploy_iso", "http://images.test/host-1-env-2.iso"))
}

// imageOf has the image controller say something about the host's image once it has the label of an InfraEnv.
func (w *world) imageOf(infraEnv string, ready metav1.Condition, url string) {
	w.t.Helper()
	image := &metal3.PreprovisioningImage{}
	w.g.Expect(w.kube.Get(w.t.Context(), w.key, image)).To(Succeed())
	if image.Labels[names.InfraEnvLabel] != infraEnv {
		return
	}
	ready.Type, ready.ObservedGeneration = string(metal3.ConditionImageReady), image.Generation
	news := image.Status.ImageUrl != url
	image.Status.ImageUrl = url
	if meta.SetStatusCondition(&image.Status.Conditions, ready) || news {
		w.g.Expect(w.kube.Status().Update(w.t.Context(), image)).To(Succeed())
	}
}
