package host

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// password changes what the BMC's Secret holds.
func (w *world) password(password string) {
	w.t.Helper()
	secret := &corev1.Secret{}
	w.g.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: "bmc"}, secret)).To(Succeed())
	secret.Data["password"] = []byte(password)
	w.g.Expect(w.kube.Update(w.t.Context(), secret)).To(Succeed())
}

// TestADeploymentThatEndsDuringAnErrorIsKept loses the BMC's password while a
// machine is deployed, and gives it back when that is done: nothing is torn down.
func TestADeploymentThatEndsDuringAnErrorIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Deploy = time.Minute
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer w.stop()
		w.until("installing", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "wait call-back"
		})
		w.password("")
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
		let(5 * time.Minute)
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		g.Expect(n.ProvisionState).To(Equal("active"))
		g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioning))
		w.password("hunter2hunter2")
		w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(w.events.list()).NotTo(ContainElement("DeprovisioningStarted"))
		g.Expect(w.host().Status.ErrorType).To(BeEmpty())
		g.Expect(w.host().Status.ErrorCount).To(BeZero())
	})
}

// TestErrorsAtRestEnd mends what went wrong with a host at rest: the error goes,
// and the host counts as sound.
func TestErrorsAtRestEnd(t *testing.T) {
	external := func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true }
	offline := func(h *metal3.BareMetalHost) { h.Spec.Online = false }
	online := func(h *metal3.BareMetalHost) { h.Spec.Online = true }
	secret := func(w *world, broken bool) {
		password := "hunter2hunter2"
		if broken {
			password = ""
		}
		w.password(password)
	}
	var dead atomic.Bool
	power := func(w *world, broken bool) {
		if dead.Store(broken); broken {
			w.edit(offline)
			return
		}
		dead.Store(true) // it stays so: what is asked for now is what the machine is
		w.edit(online)
	}
	refusal := func(w *world, broken bool) {
		if !broken {
			w.edit(func(h *metal3.BareMetalHost) { online(h); h.Spec.AutomatedCleaningMode = metal3.CleaningModeMetadata })
			return
		}
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/v1/nodes/") {
				return &simulator.Fault{Status: http.StatusBadRequest, Text: "not with this driver"}
			}
			return nil
		})
		w.edit(func(h *metal3.BareMetalHost) { offline(h); h.Spec.AutomatedCleaningMode = metal3.CleaningModeDisabled })
	}
	for name, c := range map[string]struct {
		want  func(*metal3.BareMetalHost)
		state policy.State
		set   func(w *world, broken bool)
		kind  metal3.ErrorType
	}{
		"available, Secret":                      {nil, metal3.StateAvailable, secret, metal3.RegistrationError},
		"provisioned, Secret":                    {wantInstall, metal3.StateProvisioned, secret, metal3.RegistrationError},
		"externally provisioned, Secret":         {external, metal3.StateExternallyProvisioned, secret, metal3.RegistrationError},
		"available, change refused":              {nil, metal3.StateAvailable, refusal, metal3.RegistrationError},
		"provisioned, change refused":            {wantInstall, metal3.StateProvisioned, refusal, metal3.ProvisionedRegistrationError},
		"available, power":                       {nil, metal3.StateAvailable, power, metal3.PowerManagementError},
		"provisioned, power":                     {wantInstall, metal3.StateProvisioned, power, metal3.PowerManagementError},
		"externally provisioned, power":          {external, metal3.StateExternallyProvisioned, power, metal3.PowerManagementError},
		"externally provisioned, change refused": {external, metal3.StateExternallyProvisioned, refusal, metal3.ProvisionedRegistrationError},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				dead.Store(false)
				w := newWorld(t, assisted(failing(&dead, "power", "", "the BMC does not answer")), policy.Settings{}, c.want)
				defer w.stop()
				w.until("at rest", 2*time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.Provisioning.State == c.state && h.Status.PoweredOn
				})
				let(time.Minute)
				c.set(w, true)
				w.until("failing", 5*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == c.kind })
				c.set(w, false)
				w.until("sound", 10*time.Second, func(h *metal3.BareMetalHost) bool {
					return h.Status.ErrorType == "" && h.Status.OperationalStatus == metal3.OperationalStatusOK
				})
				g.Expect(w.host().Status.ErrorCount).To(BeZero())
				g.Expect(condition(w.host(), view.StalledCondition).Status).To(Equal(metav1.ConditionFalse))
				g.Expect(w.host().Status.Provisioning.State).To(Equal(c.state))
			})
		})
	}
}

// TestARefusalThatLastsIsNotForgotten asks for another attempt at a change that
// Ironic still refuses, on a host that rests otherwise.
func TestARefusalThatLastsIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.until("at rest", 2*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.PoweredOn
		})
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/v1/nodes/") {
				return &simulator.Fault{Status: http.StatusBadRequest, Text: "not with this driver"}
			}
			return nil
		})
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.Online, h.Spec.AutomatedCleaningMode = false, metal3.CleaningModeDisabled
		})
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = true })
		let(10 * time.Second)
		g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("not with this driver"))
		w.sim.Intercept(nil)
		w.annotate(names.Retry, "1")
		w.until("sound", 10*time.Second, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == "" })
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		g.Expect(n.Fields["automated_clean"]).To(HaveValue(BeFalse()), "it was made")
	})
}

// TestSecretsOfBeforeAreReleased gives a host other credentials, twice, and one
// Secret that never did: only the present one, and what another host uses, is held.
func TestSecretsOfBeforeAreReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{Behave: func(o simulator.Operation) simulator.Outcome {
			info, _ := o.Node.Fields["driver_info"].(map[string]any)
			if o.Name == "verify" && info["redfish_password"] == "wrong" {
				return simulator.Outcome{Error: "HTTP 401 from the BMC"}
			}
			return simulator.Outcome{}
		}}, policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "bad" })
		defer w.stop()
		secret := func(name string) *corev1.Secret {
			s := &corev1.Secret{}
			g.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: name}, s)).To(Succeed())
			return s
		}
		for name, password := range map[string]string{"bad": "wrong", "b": "right", "c": "right"} {
			g.Expect(w.kube.Create(t.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: name},
				Data:       map[string][]byte{"username": []byte("a"), "password": []byte(password)},
			})).To(Succeed())
		}
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool {
			return strings.Contains(h.Status.ErrorMessage, "HTTP 401")
		})
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "bmc" })
		w.untilState(metal3.StateAvailable, time.Minute)
		other := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "other"}}
		g.Expect(w.kube.Create(t.Context(), other)).To(Succeed())
		shared := secret("bmc")
		shared.OwnerReferences = append(shared.OwnerReferences, metav1.OwnerReference{APIVersion: "metal3.io/v1alpha1", Kind: "BareMetalHost", Name: "other", UID: other.UID})
		g.Expect(w.kube.Update(t.Context(), shared)).To(Succeed())
		for _, name := range []string{"b", "c"} {
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = name })
			w.until("changed to "+name, time.Minute, func(h *metal3.BareMetalHost) bool {
				return h.Status.GoodCredentials.Reference.Name == name
			})
		}
		let(time.Second)
		mine := HaveField("UID", w.host().UID)
		for name, held := range map[string]bool{"bad": false, "b": false, "bmc": true, "c": true} {
			g.Expect(slices.Contains(secret(name).Finalizers, names.SecretFinalizer)).To(Equal(held), name)
			if name == "c" {
				g.Expect(secret(name).OwnerReferences).To(ContainElement(mine))
			} else {
				g.Expect(secret(name).OwnerReferences).NotTo(ContainElement(mine), name)
			}
		}
	})
}
