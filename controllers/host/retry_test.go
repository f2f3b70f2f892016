package host

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestARestartRepeatsNoRetry has a retry asked for that fails as well, and starts
// the program anew: the value was dealt with, another one counts.
func TestARestartRepeatsNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var broken atomic.Bool
		broken.Store(true)
		w := newWorld(t, assisted(failing(&broken, "inspect", "", "no carrier")), policy.Settings{}, nil)
		defer func() { w.stop() }()
		failed := func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.InspectionError }
		attempts := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"] }
		w.until("failed", time.Minute, failed)
		first := attempts()
		w.annotate(names.Retry, "1")
		let(20 * time.Second)
		g.Expect(failed(w.host())).To(BeTrue())
		g.Expect(attempts()).To(Equal(first+1), "it was tried again at once")
		g.Expect(condition(w.host(), "RetryAcknowledged").Message).To(ContainSubstring(`"1"`))

		w.stop()
		w.start(policy.Settings{})
		let(20 * time.Second)
		g.Expect(attempts()).To(Equal(first+1), "the new process knows that it was")
		w.annotate(names.Retry, "2")
		let(20 * time.Second)
		g.Expect(attempts()).To(Equal(first + 2))
	})
}

// TestMarksOfASecretAreNoReasonToTryAgain: a host that takes a Secret into use
// marks it as its owner, which changes no password. The others that use it and have failed
// wait for their next attempt: BMCs lock accounts out after a few wrong logins.
func TestMarksOfASecretAreNoReasonToTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{Behave: func(o simulator.Operation) simulator.Outcome {
			if o.Name == "verify" {
				return simulator.Outcome{Error: "HTTP 401 from the BMC"}
			}
			return simulator.Outcome{}
		}}, policy.Settings{}, nil)
		defer w.stop()
		attempts := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"] }
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
		first := attempts()
		for _, name := range []string{"a", "b", "c"} {
			secret := &corev1.Secret{}
			g.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: "bmc"}, secret)).To(Succeed())
			secret.OwnerReferences = append(secret.OwnerReferences, metav1.OwnerReference{
				APIVersion: metal3.GroupVersion.String(), Kind: "BareMetalHost", Name: name, UID: types.UID("uid-" + name),
			})
			g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
			let(5 * time.Second)
		}
		g.Expect(attempts()).To(Equal(first), "no password was changed")
	})
}

// TestARefusedInspectionIsToldOnce: nobody changes anything after the refusal, so that the
// next attempt waits for the back-off, and one event tells of it.
func TestARefusedInspectionIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{
			BIOS: []map[string]any{{"name": "BootMode", "value": "Bios", "attribute_type": "Enumeration", "allowable_values": []any{"Bios", "Uefi"}}},
		}, policy.Settings{}, func(h *metal3.BareMetalHost) {
			h.Spec.BMC.Address = "idrac-virtualmedia://bmc.test/redfish/v1/Systems/1"
		})
		defer w.stop()
		var asked atomic.Int32
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method != http.MethodPut || r.Body == nil {
				return nil
			}
			raw, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(raw))
			if !bytes.Contains(raw, []byte(`"inspect"`)) {
				return nil
			}
			asked.Add(1)
			return &simulator.Fault{Status: http.StatusBadRequest, Text: "Missing are: ['deploy_kernel', 'deploy_ramdisk']"}
		})
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.InspectionError })
		let(20 * time.Second)
		g.Expect(asked.Load()).To(BeEquivalentTo(1), "%v", w.events.list())
		g.Expect(count1(w.events.list(), "InspectionError")).To(Equal(1), "%v", w.events.list())
	})
}

// TestALookAtTheBMCTriesNothingAgain: `kubectl ironflow bmc probe` annotates the host. Who looks why
// a host has failed does not ask for another attempt.
func TestALookAtTheBMCTriesNothingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var broken atomic.Bool
		broken.Store(true)
		w := newWorld(t, assisted(failing(&broken, "inspect", "", "no carrier")), policy.Settings{}, nil)
		defer w.stop()
		attempts := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"] }
		w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.InspectionError })
		first := attempts()
		w.annotate(names.Probe, "2026-11-26T17:40:58Z")
		let(20 * time.Second)
		g.Expect(attempts()).To(Equal(first))
	})
}

// TestAnotherHostOfTheSameSecretIsNoReasonToTryAgain: hosts whose BMCs have one Secret are a fleet's everyday. That one more
// uses it changes nothing for a host that has failed too often and waits for somebody.
func TestAnotherHostOfTheSameSecretIsNoReasonToTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		fails := failing(&broken, "deploy", "", "no disk")
		w := newWorld(t, assisted(func(o simulator.Operation) simulator.Outcome {
			if o.Node.Name != "lab~host-1" {
				return simulator.Outcome{}
			}
			return fails(o)
		}), policy.Settings{MaxAttempts: 1}, wantInstall)
		defer func() { w.stop() }()
		first := w.key
		w.until("given up", time.Hour, func(h *metal3.BareMetalHost) bool { return condition(h, "Stalled").Reason == "RetryLimitReached" })
		let(10 * time.Minute)
		w.g.Expect(condition(w.host(), "Stalled").Message).To(ContainSubstring("it is not tried again by itself"))
		before := count1(w.events.list(), "ProvisioningStarted")
		w.another("host-2", otherMAC)
		let(10 * time.Minute)
		w.key = first
		t.Logf("deployments of host-1 since: %d; it says %s", count1(w.events.list(), "ProvisioningStarted")-before, condition(w.host(), "Stalled").Message)
		w.g.Expect(count1(w.events.list(), "ProvisioningStarted")).To(Equal(before))
	})
}

// TestASecretOfManyHosts counts what it costs that hosts share the Secret of their BMCs.
func TestASecretOfManyHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		const more = 20
		w.sim.ResetCounts()
		statuses, _ := w.counted()
		for i := range more {
			w.another("more-"+string(rune('a'+i)), "52:54:00:00:01:"+"0123456789"[i/10:i/10+1]+"0123456789"[i%10:i%10+1])
			let(30 * time.Second)
		}
		let(time.Minute)
		after, _ := w.counted()
		t.Logf("%d hosts more: %d status writes, %v", more, after-statuses, w.sim.Counts())
		w.g.Expect(w.sim.Counts()["PATCH /v1/nodes/{node}"]).To(BeNumerically("<=", 2*more), "its content has not changed")
	})
}

// TestWhatChangesWhileNobodyIsThere has the program away when the BMC's Secret is marked, and
// when its password is corrected: only that is a reason for another attempt.
func TestWhatChangesWhileNobodyIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.Secret)
		more   int
	}{
		"marked":             {func(s *corev1.Secret) { s.Annotations = map[string]string{"note": "rack 7"} }, 0},
		"password corrected": {func(s *corev1.Secret) { s.Data["password"] = []byte("another one") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, simulator.Options{Behave: func(o simulator.Operation) simulator.Outcome {
					if o.Name == "verify" {
						return simulator.Outcome{Error: "HTTP 401 from the BMC"}
					}
					return simulator.Outcome{}
				}}, policy.Settings{}, nil)
				defer func() { w.stop() }()
				attempts := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"] }
				w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
				first := attempts()
				w.stop()
				secret := &corev1.Secret{}
				g.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: "bmc"}, secret)).To(Succeed())
				c.change(secret)
				g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
				w.start(policy.Settings{})
				let(20 * time.Second)
				g.Expect(attempts()).To(Equal(first + c.more))
				w.stop()
				w.start(policy.Settings{})
				let(10 * time.Second)
				g.Expect(attempts()).To(Equal(first+c.more), "another start is none either")
			})
		})
	}
}
