package host

import (
	"net/http"
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
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestMaintenanceIsRespectedWhileAHostIsDeleted has somebody at work on a machine whose
// host is deleted: nothing happens to it before that is over, or the host is released
// by force.
func TestMaintenanceIsRespectedWhileAHostIsDeleted(t *testing.T) {
	for name, end := range map[string]func(*world){
		"the node is taken out of maintenance": func(w *world) {
			w.sim.Edit("lab~host-1", map[string]any{"maintenance": false, "maintenance_reason": nil})
		},
		"by force": func(w *world) { w.annotate(names.ForceDelete, w.key.Name) },
	} {
		for state, wish := range map[policy.State]func(*metal3.BareMetalHost){metal3.StateAvailable: nil, metal3.StateProvisioned: wantInstall} {
			t.Run(name+", "+string(state), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := NewWithT(t)
					w := newWorld(t, assisted(nil), policy.Settings{}, wish)
					defer func() { w.stop() }()
					w.untilState(state, time.Minute)
					let(time.Minute)
					w.sim.Edit("lab~host-1", map[string]any{"maintenance": true, "maintenance_reason": "new fan"})
					let(time.Minute)
					before, _ := w.sim.Node("lab~host-1")
					g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
					let(24 * time.Hour)
					h := w.host()
					g.Expect(h).NotTo(BeNil())
					g.Expect(condition(h, metal3.ProgressingCondition).Message).To(And(ContainSubstring("new fan"), ContainSubstring("out of maintenance"), ContainSubstring(names.ForceDelete)))
					g.Expect(condition(h, metal3.ManageableCondition).Reason).To(Equal("Maintenance"))
					g.Expect(h.Status.ErrorType).To(BeEmpty())
					n, there := w.sim.Node("lab~host-1")
					g.Expect(there).To(BeTrue())
					g.Expect(n.ProvisionState).To(Equal(before.ProvisionState))
					g.Expect(n.Fields["power_state"]).To(Equal("power on"))
					end(w)
					w.until("gone", time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
					_, there = w.sim.Node("lab~host-1")
					g.Expect(there).To(Equal(name == "by force"))
				})
			})
		}
	}
}

// TestMaintenanceOfADeletionThatWasCutOff has a host released by force when its node could not be removed any more. The
// next host of that name finds it in maintenance, which is over.
func TestMaintenanceOfADeletionThatWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
		defer w.stop()
		w.untilState(metal3.StateExternallyProvisioned, time.Minute)
		next := w.host()
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodDelete {
				return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "later"}
			}
			return nil
		})
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		let(time.Minute)
		n, _ := w.sim.Node("lab~host-1")
		g.Expect(n.Fields["maintenance_reason"]).To(Equal("the host is being deleted"))
		w.annotate(names.ForceDelete, w.key.Name)
		w.until("gone", time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
		w.sim.Intercept(nil)

		next.ObjectMeta = metav1.ObjectMeta{Namespace: next.Namespace, Name: next.Name}
		next.Status = metal3.BareMetalHostStatus{}
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "bmc"}, // the first one went with its host
			Data:       map[string][]byte{"username": []byte("admin"), "password": []byte("hunter2hunter2")},
		}
		g.Expect(client.IgnoreAlreadyExists(w.kube.Create(t.Context(), secret))).To(Succeed())
		g.Expect(w.kube.Create(t.Context(), next)).To(Succeed())
		w.untilState(metal3.StateExternallyProvisioned, time.Minute)
		let(time.Second)
		n, _ = w.sim.Node("lab~host-1")
		g.Expect(n.Maintenance).To(BeFalse())
		g.Expect(condition(w.host(), metal3.ManageableCondition).Reason).To(Equal(metal3.ManageableReason))
	})
}
