package bmcrotation

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
	"github.com/ironflow/ironflow/test/catalog"
)

// done asserts that everybody has the same new password, and returns it.
func (w *world) done() string {
	w.t.Helper()
	w.until(reason.Current, "was changed at")
	fresh := w.bmcPassword()
	w.Expect(fresh).NotTo(Or(BeEmpty(), Equal(original)), "the old one is gone from the BMC")
	w.Expect(w.stored("bmc")).To(Equal(map[string]string{"username": user, "password": fresh, "other": "theirs"}))
	username, pass := w.ironic.login()
	w.Expect([]string{username, pass}).To(Equal([]string{user, fresh}), "what Ironic was told")
	record := w.stored("host-1-bmc-rotation")
	w.Expect(record).To(And(HaveKeyWithValue("current", fresh), HaveLen(2)), "nothing else is kept")
	w.Expect(record["state"]).NotTo(Or(ContainSubstring(fresh), ContainSubstring(original)))
	return fresh
}

func TestEveryReasonIsListed(t *testing.T) {
	g := NewWithT(t)
	for _, r := range reason.All {
		if !r.Has(reason.Password) {
			continue
		}
		g.Expect(catalog.Has("BMC", v1alpha1.CredentialsCurrent, string(r.Status), string(r.Reason))).To(BeTrue(), "%s is not in the catalogue of conditions", r.Reason)
	}
}

func TestAPasswordIsChangedOnRequest(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.Consistently(func() map[string]string { return w.stored("host-1-bmc-rotation") }).WithTimeout(300*time.Millisecond).Should(BeEmpty(), "nobody has asked")
	w.Expect(w.sim.Total("")).To(BeZero())

	w.ask("1")
	first := w.done()
	record := &corev1.Secret{}
	w.Expect(w.kube.Get(t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: "host-1-bmc-rotation"}, record)).To(Succeed())
	w.Expect(record.OwnerReferences).To(ConsistOf(And(HaveField("Kind", "BareMetalHost"), HaveField("Name", key.Name))), "it goes with its host")

	c, err := w.pool.Client(key.String(), client.Target{URL: w.base, System: "/redfish/v1/Systems/1", Username: user, Password: client.Secret(first)})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(c.Get(t.Context(), "/redfish/v1/Systems/1", &struct{}{})).To(Succeed(), "whoever reads the Secret gets in")

	w.ask("1")
	w.Consistently(w.bmcPassword).WithTimeout(300*time.Millisecond).Should(Equal(first), "a request is served once")
	w.ask("2")
	w.Eventually(w.bmcPassword).WithTimeout(time.Minute).ShouldNot(Equal(first))
	w.Eventually(func() string { return w.stored("host-1-bmc-rotation")["current"] }).WithTimeout(time.Minute).Should(Equal(w.bmcPassword()))
	second := w.done()

	b := &v1alpha1.BMC{}
	w.Expect(w.kube.Get(t.Context(), key, b)).To(Succeed())
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
	for _, o := range []any{b, h} {
		raw, err := json.Marshal(o)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(string(raw)).NotTo(Or(ContainSubstring(original), ContainSubstring(first), ContainSubstring(second)))
	}
}

func TestAPasswordIsChangedBySchedule(t *testing.T) {
	w := newWorld(t)
	w.every = 1000 * time.Hour
	stop := w.start()
	w.until(reason.Current, "the next change is due at")
	w.Expect(w.bmcPassword()).To(Equal(original))
	stop()
	w.ahead.Store(int64(1001 * time.Hour))
	w.start()
	w.done()
}

// TestWhatKeepsAPassword: nothing is sent, and the condition says why; when the
// obstacle is gone the change is made without another word.
func TestWhatKeepsAPassword(t *testing.T) {
	at := func(state metal3.ProvisioningState) func(*world) {
		return func(w *world) {
			w.change(key.Name, func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = state })
		}
	}
	for name, c := range map[string]struct {
		before, after func(w *world)
		reason        reason.Reason
		says          string
	}{
		"a Secret of several hosts": {
			before: func(w *world) { w.host("host-3", "bmc"); w.host("host-2", "bmc") }, reason: reason.SharedSecret, says: "host-2, host-3",
			after: func(w *world) {
				for _, other := range []string{"host-2", "host-3"} {
					w.Expect(w.kube.Delete(w.t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: other}})).To(Succeed())
				}
			},
		},
		"an account of several hosts": {
			before: func(w *world) { w.secret("other", user, original); w.host("host-2", "other") }, reason: reason.SharedAccount, says: "lab/host-2",
			after: func(w *world) {
				w.change("host-2", func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "redfish://192.0.2.1" })
			},
		},
		"provisioning": {
			before: func(w *world) {
				at(metal3.StateProvisioning)(w)
				w.change(key.Name, func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: "http://images.test/x"} })
			},
			reason: reason.NotAtRest, says: "at rest",
			after: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) {
					h.Status.Provisioning.State, h.Status.Provisioning.Image = metal3.StateProvisioned, *h.Spec.Image
				})
			},
		},
		"about to be given back": {
			before: at(metal3.StateProvisioned), reason: reason.NotAtRest, says: "at rest", after: at(metal3.StateAvailable),
		},
		"about to be given back, and then said to be somebody else's": {
			before: at(metal3.StateProvisioned), reason: reason.NotAtRest, says: "at rest",
			after: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
			},
		},
		"a wish": {
			before: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) {
					h.Spec.Online, h.Spec.Image = true, &metal3.Image{URL: "http://images.test/x"}
				})
			},
			reason: reason.NotAtRest, says: "at rest",
			after: func(w *world) { w.change(key.Name, func(h *metal3.BareMetalHost) { h.Spec.Image = nil }) },
		},
		"an error": {
			before: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) {
					h.Status.OperationalStatus, h.Status.ErrorType = metal3.OperationalStatusError, metal3.PowerManagementError
				})
			},
			reason: reason.NotAtRest, says: "at rest",
			after: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) {
					h.Status.OperationalStatus, h.Status.ErrorType = metal3.OperationalStatusOK, ""
				})
			},
		},
		"servicing": {
			before: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) { h.Status.OperationalStatus = metal3.OperationalStatusServicing })
			},
			reason: reason.NotAtRest, says: "at rest",
			after: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) { h.Status.OperationalStatus = metal3.OperationalStatusOK })
			},
		},
		"a node at work": {
			before: func(w *world) { w.ironic.set(func() { w.ironic.state = ironic.StateCleaning }) }, reason: reason.NotAtRest, says: "Ironic's node is cleaning",
			after: func(w *world) {
				w.ironic.set(func() { w.ironic.state = ironic.StateAvailable })
				w.change(key.Name, func(h *metal3.BareMetalHost) { h.Annotations[names.Retry] = "1" }) // it is asked once a minute otherwise
			},
		},
		"a policy that is none": {
			before: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.PasswordPolicy: "long"} })
			},
			reason: reason.PolicyInvalid, says: names.PasswordPolicy,
			after: func(w *world) {
				w.change(key.Name, func(h *metal3.BareMetalHost) { delete(h.Annotations, names.PasswordPolicy) })
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.before(w)
			w.change(key.Name, func(h *metal3.BareMetalHost) {
				metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.RotateCredentials, "1")
			})
			w.start()
			condition := w.until(c.reason, c.says)
			w.Expect(condition.Message).NotTo(ContainSubstring(original))
			w.Expect(w.bmcPassword()).To(Equal(original))
			w.Expect(w.stored("host-1-bmc-rotation")).To(BeEmpty())
			w.Expect(w.sim.Total("")).To(BeZero(), "the BMC is not asked for that")
			c.after(w)
			w.done()
		})
	}
}

// TestTheProgramIsKilled: whatever was written last, the next program goes on, and the
// password that the BMC has is stored at every moment.
func TestTheProgramIsKilled(t *testing.T) {
	for name, c := range map[string]struct {
		method, secret string
		after          int32
		phase          rotation.Phase
	}{
		"before it was noted that the password is sent": {method: http.MethodPut, secret: "host-1-bmc-rotation", after: 0, phase: rotation.Staged},
		"before the BMC's answer was noted":             {method: http.MethodPut, secret: "host-1-bmc-rotation", after: 1, phase: rotation.Setting},
		"before the login was noted":                    {method: http.MethodPut, secret: "host-1-bmc-rotation", after: 2, phase: rotation.Finding},
		"before the host's Secret was written":          {method: http.MethodPatch, secret: "bmc", after: 0, phase: rotation.Promoting},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cut(c.method, c.secret, c.after)
			stop := w.start()
			w.ask("1")
			w.reach(c.phase)
			if c.phase == rotation.Setting {
				w.Eventually(w.bmcPassword).WithTimeout(time.Minute).ShouldNot(Equal(original))
			}
			stop()
			w.Expect(w.bmcPassword() == original).To(Equal(c.phase == rotation.Staged))
			w.Expect(w.stored("bmc")).To(HaveKeyWithValue("password", original))
			w.Expect([]string{w.stored("host-1-bmc-rotation")["next"], w.stored("host-1-bmc-rotation")["current"]}).To(ContainElement(w.bmcPassword()))
			w.api.Intercept(nil)
			stop = w.start()
			if c.phase == rotation.Setting { // the BMC may still be at it
				w.until(reason.RotationUnderWay, "")
				stop()
				w.ahead.Add(int64(5 * time.Minute))
				w.start()
			}
			w.done()
		})
	}
}

// TestAHostWithoutANode: there is nobody to be told.
func TestAHostWithoutANode(t *testing.T) {
	for name, away := range map[string]func(w *world){
		"detached": func(w *world) {
			w.change(key.Name, func(h *metal3.BareMetalHost) { h.Status.OperationalStatus = metal3.OperationalStatusDetached })
		},
		"gone": func(w *world) { w.ironic.set(func() { w.ironic.gone = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			away(w)
			w.start()
			w.ask("1")
			w.until(reason.Current, "was changed at")
			w.Expect(w.stored("bmc")).To(HaveKeyWithValue("password", w.bmcPassword()))
			username, _ := w.ironic.login()
			w.Expect(username).To(BeEmpty())
		})
	}
}

func TestAHeldHostIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.change(key.Name, func(h *metal3.BareMetalHost) {
		h.Annotations = map[string]string{names.Hold: "", names.RotateCredentials: "1"}
	})
	w.start()
	w.Consistently(func() int { return w.sim.Total("") }).WithTimeout(300 * time.Millisecond).Should(BeZero())
	w.ask("1")
	w.done()
}

// TestAUserEditsTheSecretInTheMiddle, when the BMC has our password already: what the user
// writes is never written over. It is tried once, and if it is wrong the record has the
// one that works; with that copied, all is well.
func TestAUserEditsTheSecretInTheMiddle(t *testing.T) {
	for name, set := range map[string]bool{"mistyped": false, "set at the BMC too": true} {
		t.Run(name, func(t *testing.T) {
			const theirs = "Users-own-word-1"
			w := newWorld(t)
			w.cut(http.MethodPatch, "bmc", 0)
			stop := w.start()
			w.ask("1")
			w.reach(rotation.Promoting)
			stop()
			w.api.Intercept(nil)
			ours := w.bmcPassword()
			if set {
				w.Expect(w.sim.SetPassword(user, theirs)).To(Succeed())
			}
			w.put(theirs)
			w.start()
			if set {
				w.until(reason.Current, "was changed at")
				w.Expect(w.stored("host-1-bmc-rotation")).To(HaveKeyWithValue("current", theirs))
				w.Expect(w.sim.Logins()[accounts.Wrong]).To(BeZero())
			} else {
				condition := w.until(reason.SecretChanged, "host-1-bmc-rotation")
				w.Expect(condition.Message).NotTo(Or(ContainSubstring(theirs), ContainSubstring(ours), ContainSubstring(original)))
				w.Expect(w.sim.Logins()[accounts.Wrong]).To(Equal(1))
				w.put(ours)
				w.until(reason.Current, "")
			}
			w.Expect(w.stored("bmc")).To(HaveKeyWithValue("password", w.bmcPassword()))
			w.Expect(w.sim.Logins()[accounts.Wrong]).To(BeNumerically("<=", 1))
		})
	}
}

// put writes a password to the host's Secret, as a user does.
func (w *world) put(pass string) {
	w.t.Helper()
	s := &corev1.Secret{}
	w.Expect(w.kube.Get(w.t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: "bmc"}, s)).To(Succeed())
	s.Data["password"] = []byte(pass)
	w.Expect(w.kube.Update(w.t.Context(), s)).To(Succeed())
}
