package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestADeploymentThatEndedUnheardIsNotBegunAnew: it ends while nothing is done for its host, what was installed runs, and Ironic's
// database is lost then. That this process has seen the deployment says nothing of what came of it.
func TestADeploymentThatEndedUnheardIsNotBegunAnew(t *testing.T) {
	without := func(key string) func(*world) {
		return func(w *world) { w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, key) }) }
	}
	secret := func() *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "bmc"},
			Data:       map[string][]byte{"username": []byte("admin"), "password": []byte("hunter2hunter2")},
		}
	}
	for name, c := range map[string]struct{ begins, ends func(*world) }{
		"on hold": {func(w *world) { w.annotate(names.Hold, "") }, without(names.Hold)},
		"paused":  {func(w *world) { w.annotate(names.Paused, "") }, without(names.Paused)},
		"without its Secret": {
			func(w *world) {
				w.g.Expect(w.kube.Delete(w.t.Context(), w.readSecret("bmc"))).To(Succeed())
				old := w.readSecret("bmc") // only now are its finalizers not put back by who is woken by the change
				old.Finalizers = nil
				w.g.Expect(w.kube.Update(w.t.Context(), old)).To(Succeed())
				w.g.Expect(w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(old), old)).NotTo(Succeed())
			},
			func(w *world) { w.g.Expect(w.kube.Create(w.t.Context(), secret())).To(Succeed()) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				w.until("being deployed", 10*time.Minute, func(*metal3.BareMetalHost) bool {
					n, _ := w.sim.Node("lab~host-1")
					return n.ProvisionState == "wait call-back"
				})
				let(time.Second)
				c.begins(w)
				let(24 * time.Hour)
				n, _ := w.sim.Node("lab~host-1")
				w.g.Expect(n.ProvisionState).To(Equal("active"))
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioning))
				w.sim.Wipe()
				w.sim.ResetCounts()
				let(time.Hour)
				c.ends(w)
				w.enrolledAgain("power on")
				let(time.Hour)
				w.leftAlone("power on")

				w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
				w.untilState(metal3.StateExternallyProvisioned, 10*time.Minute)
			})
		})
	}
}

// TestWorkGoesOnWhereNothingHasEnded: it is no reason to leave a machine alone that its host was kept off for a while.
func TestWorkGoesOnWhereNothingHasEnded(t *testing.T) {
	for _, key := range []string{names.Hold, names.Paused} {
		t.Run(key, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				w.untilState(metal3.StateInspecting, 10*time.Minute)
				let(time.Second)
				w.annotate(key, "")
				let(time.Second)
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, key) })
				let(time.Second)
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateInspecting))
				w.sim.Wipe()
				w.enrolledAgain("power on")
				w.until("the end", 10*time.Minute, rests)
			})
		})
	}
}
