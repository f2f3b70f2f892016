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

// TestMaintenanceOnTopOfAFailureIsAPersons has somebody at work on a machine whose node has failed, or fails meanwhile: Ironic
// says that of the node as well, and its machine is left alone until the maintenance ends.
func TestMaintenanceOnTopOfAFailureIsAPersons(t *testing.T) {
	person := map[string]any{"maintenance": true, "maintenance_reason": "new fan"}
	none := map[string]any{"maintenance": true, "maintenance_reason": nil}
	const found = " aborted as node is in maintenance mode" // how Ironic fails what it finds in maintenance
	for name, c := range map[string]struct {
		state       string // of the node, once it has failed
		before      bool   // the maintenance began before it failed
		maintenance map[string]any
		text        string
	}{
		"cleaning, after it has failed":                     {"clean failed", false, person, onFire},
		"cleaning, after it has failed, without a reason":   {"clean failed", false, none, onFire},
		"cleaning, before it fails":                         {"clean failed", true, person, onFire},
		"cleaning, which fails for that":                    {"clean failed", true, person, "Cleaning" + found},
		"cleaning, which fails for that, without a reason":  {"clean failed", true, none, "Cleaning" + found},
		"servicing, after it has failed":                    {"service failed", false, person, onFire},
		"servicing, before it fails":                        {"service failed", true, person, onFire},
		"servicing, which fails for that, without a reason": {"service failed", true, none, "Service" + found},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				fault := map[string]string{"clean failed": "clean failure", "service failed": "service failure"}[c.state]
				state := map[string]policy.State{"clean failed": metal3.StatePreparing, "service failed": metal3.StateProvisioned}[c.state]
				w := workingWorld(t, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
				waits := "service wait"
				w.allowServicing()
				if state == metal3.StatePreparing {
					waits = "clean wait"
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
					w.untilState(metal3.StateAvailable, 5*time.Minute)
				}
				w.wish()
				if state == metal3.StateProvisioned {
					w.annotate(names.Reboot, "")
				}
				w.untilNode("lab~host-1", waits, time.Minute)
				reason := any(c.text)
				if c.before {
					w.sim.Edit("lab~host-1", c.maintenance)
					if c.maintenance["maintenance_reason"] != nil {
						reason = c.maintenance["maintenance_reason"]
					}
				}
				// As Ironic does: a reason that is there stays.
				w.sim.Edit("lab~host-1", map[string]any{
					"provision_state": c.state, "last_error": c.text, "fault": fault, "maintenance": true, "maintenance_reason": reason,
				})
				if !c.before {
					w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorMessage == c.text })
					w.sim.Edit("lab~host-1", c.maintenance)
				}
				began := w.sim.Steps()
				let(24 * time.Hour)
				n, _ := w.sim.Node("lab~host-1")
				g.Expect(n.Maintenance).To(BeTrue(), "the maintenance is ended")
				g.Expect(n.ProvisionState).To(Equal(c.state))
				g.Expect(w.sim.Steps()).To(Equal(began), "the machine is booted")
				h := w.host()
				g.Expect(h.Status.Provisioning.State).To(Equal(state))
				g.Expect(condition(h, metal3.ManageableCondition).Reason).To(Equal("Maintenance"))
				g.Expect(condition(h, metal3.ProgressingCondition).Message).To(ContainSubstring("out of maintenance"))
				w.sim.Edit("lab~host-1", map[string]any{"maintenance": false, "maintenance_reason": nil, "fault": nil}) // as Ironic does
				w.until("done", 24*time.Hour, func(h *metal3.BareMetalHost) bool {
					n, _ := w.sim.Node("lab~host-1")
					done := n.ProvisionState == "active" || h.Status.Provisioning.State == metal3.StateAvailable
					return done && h.Status.ErrorType == "" && h.Status.OperationalStatus == metal3.OperationalStatusOK
				})
			})
		})
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
