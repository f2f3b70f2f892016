package host

import (
	"encoding/json"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// assisted is an Ironic whose live image lists the steps of our flow.
func assisted(behave func(simulator.Operation) simulator.Outcome) simulator.Options {
	return simulator.Options{AutomatedClean: true, Behave: behave, RamdiskSteps: []simulator.Step{
		{Interface: "deploy", Step: names.StartAssistedInstall},
		{Interface: "deploy", Step: names.ConfirmInstall, Priority: 79},
	}}
}

// wantInstall asks for the assisted installation.
func wantInstall(h *metal3.BareMetalHost) {
	h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
}

func condition(h *metal3.BareMetalHost, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(h.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// failing makes the named operation (and step, if one is given) fail as long as on is set.
func failing(on *atomic.Bool, operation, step, text string) func(simulator.Operation) simulator.Outcome {
	return func(o simulator.Operation) simulator.Outcome {
		if on.Load() && o.Name == operation && (step == "" || o.Step == step) {
			return simulator.Outcome{Error: text}
		}
		return simulator.Outcome{}
	}
}

func TestFailedInstallShowsReasonAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var broken atomic.Bool
		broken.Store(true)
		w := newWorld(t, assisted(failing(&broken, "deploy", "deploy.start_assisted_install", "disk /dev/sda is too small")), policy.Settings{}, wantInstall)
		defer w.stop()
		w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
		h := w.host()
		g.Expect(h.Status.ErrorType).To(Equal(metal3.ProvisioningError))
		g.Expect(h.Status.ErrorMessage).To(ContainSubstring("disk /dev/sda is too small"))
		g.Expect(h.Status.ErrorMessage).NotTo(ContainSubstring("failed on node"), "the node is known from where the text stands")
		g.Expect(h.Status.ErrorCount).To(Equal(1))
		g.Expect(h.Status.OperationalStatus).To(Equal(metal3.OperationalStatusError))
		g.Expect(condition(h, view.StalledCondition)).To(And(
			HaveField("Status", metav1.ConditionTrue), HaveField("Reason", "ProvisioningError"), HaveField("Message", ContainSubstring("tried again at"))))
		g.Expect(condition(h, metal3.ReadyCondition).Reason).To(Equal(metal3.ErrorReason))
		g.Expect(view.Of(h).NextAction).To(ContainSubstring(names.Retry))

		broken.Store(false)
		w.annotate(names.Retry, "1")
		w.until("deprovisioning at once", 2*time.Second, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == "" })
		w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(w.host().Status.ErrorCount).To(BeZero())
		g.Expect(condition(w.host(), view.StalledCondition).Status).To(Equal(metav1.ConditionFalse))
	})
}

func TestFailedInstallBacksOffAndGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var broken atomic.Bool
		broken.Store(true)
		w := newWorld(t, assisted(failing(&broken, "deploy", "deploy.start_assisted_install", "no")), policy.Settings{MaxAttempts: 3}, wantInstall)
		defer w.stop()
		w.until("failed once", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorCount == 1 })
		second := w.until("failed twice", 5*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorCount == 2 })
		g.Expect(second).To(BeNumerically(">", time.Minute), "the first back-off is at least one minute")
		third := w.until("failed three times", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorCount == 3 })
		g.Expect(third).To(BeNumerically(">", 2*time.Minute), "it grows")
		w.until("given up", 20*time.Minute, func(h *metal3.BareMetalHost) bool {
			return condition(h, view.StalledCondition).Reason == "RetryLimitReached"
		})
		g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
		deployments := w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]
		let(24 * time.Hour)
		g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(deployments), "nothing by itself any more")
		broken.Store(false)
		w.annotate(names.Retry, "now")
		w.untilState(metal3.StateProvisioned, time.Minute)
	})
}

func TestIronicRestartIsRetriedAtOnce(t *testing.T) {
	for name, at := range map[string]struct {
		state  string
		want   func(*metal3.BareMetalHost)
		ends   policy.State
		finish func(*world)
	}{
		"while verifying":  {state: "verifying", ends: metal3.StateAvailable},
		"while inspecting": {state: "inspecting", ends: metal3.StateAvailable},
		"while cleaning":   {state: "cleaning", want: wantInstall, ends: metal3.StateProvisioned},
		"while deploying":  {state: "deploying", want: wantInstall, ends: metal3.StateProvisioned},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				o := assisted(nil)
				o.Delays = delays
				o.Delays.Work = time.Second
				w := newWorld(t, o, policy.Settings{}, at.want)
				defer w.stop()
				w.until("node "+at.state, time.Minute, func(h *metal3.BareMetalHost) bool {
					n, _ := w.sim.Node(nodespec.NodeName(h))
					return n.ProvisionState == at.state
				})
				w.sim.Restart()
				w.untilState(at.ends, 2*time.Minute)
				g.Expect(w.events.list()).To(ContainElement("IronicRestarted"))
				g.Expect(w.host().Status.ErrorCount).To(BeZero())
				g.Expect(w.sim.Nodes()).To(HaveLen(1))
			})
		})
	}
}

func TestIronicRestartWhileDeprovisioning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Work = time.Second
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		w.until("node deleting", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "deleting"
		})
		w.sim.Restart()
		w.untilState(metal3.StateAvailable, time.Minute)
		g.Expect(w.events.list()).To(ContainElement("IronicRestarted"))
	})
}

func TestLostDatabaseIsAdoptedWithoutTouchingTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		g.Expect(w.host().Status.PoweredOn).To(BeTrue())
		before := w.host().Status.Provisioning.ID
		w.sim.Wipe()
		w.sim.ResetCounts()
		w.until("adopted", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			g.Expect(h.Status.PoweredOn).To(BeTrue(), "whoever fences the machine would take it to be off")
			n, found := w.sim.Node(nodespec.NodeName(h))
			return found && n.ProvisionState == "active" && h.Status.Provisioning.ID == n.UUID
		})
		g.Expect(w.host().Status.Provisioning.ID).NotTo(Equal(before))
		g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
		g.Expect(w.host().Status.ErrorType).To(BeEmpty())
		g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(2), "manage and adopt, nothing else")
		n, _ := w.sim.Node(w.key.Namespace + "~" + w.key.Name)
		g.Expect(n.Ports).NotTo(BeEmpty())
	})
}

func TestCredentials(t *testing.T) {
	setPassword := func(w *world, password string) {
		secret := &corev1.Secret{}
		w.g.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: "bmc"}, secret)).To(Succeed())
		secret.Data["password"] = []byte(password)
		w.g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
	}
	t.Run("wrong, then corrected", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, simulator.Options{Behave: func(o simulator.Operation) simulator.Outcome {
				info, _ := o.Node.Fields["driver_info"].(map[string]any)
				if o.Name == "verify" && info["redfish_password"] != "right" {
					return simulator.Outcome{Error: "HTTP 401 from the BMC"}
				}
				return simulator.Outcome{}
			}}, policy.Settings{}, nil)
			defer w.stop()
			w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
			g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("HTTP 401"))
			g.Expect(condition(w.host(), metal3.ManageableCondition).Reason).To(Equal(metal3.RegistrationFailedReason))
			setPassword(w, "right")
			took := w.untilState(metal3.StateAvailable, time.Minute)
			g.Expect(took).To(BeNumerically("<", 20*time.Second), "without waiting for the back-off")
			g.Expect(w.host().Status.GoodCredentials.Version).To(Equal(w.host().Status.TriedCredentials.Version))
		})
	})
	t.Run("missing, then created", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "later" })
			defer w.stop()
			w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
			let(time.Minute)
			g.Expect(w.host().Status.ErrorCount).To(Equal(1), "counted once, not at each look")
			g.Expect(w.kube.Create(t.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "later"},
				Data:       map[string][]byte{"username": []byte("a"), "password": []byte("b")},
			})).To(Succeed())
			took := w.untilState(metal3.StateAvailable, time.Minute)
			g.Expect(took).To(BeNumerically("<", 25*time.Second))
			secret := &corev1.Secret{}
			g.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: "later"}, secret)).To(Succeed())
			g.Expect(secret.Labels).To(HaveKeyWithValue(names.EnvironmentLabel, names.EnvironmentValue))
			g.Expect(secret.Finalizers).To(ContainElement(names.SecretFinalizer))
		})
	})
	t.Run("changed on a provisioned host", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
			defer w.stop()
			w.untilState(metal3.StateProvisioned, time.Minute)
			setPassword(w, "changed")
			w.until("sent", time.Minute, func(h *metal3.BareMetalHost) bool {
				n, _ := w.sim.Node(nodespec.NodeName(h))
				info, _ := n.Fields["driver_info"].(map[string]any)
				return info["redfish_password"] == "changed"
			})
			g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
		})
	})
}

func TestDetachAndAttach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.OperationalStatus == metal3.OperationalStatusDetached
		})
		g.Expect(w.sim.Nodes()).To(BeEmpty())
		g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
		g.Expect(condition(w.host(), metal3.ReadyCondition).Reason).To(Equal(metal3.DetachedReason))
		g.Expect(view.Of(w.host()).Phase).To(Equal("detached"))
		w.sim.ResetCounts()
		w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
		w.until("adopted", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "active" && h.Status.OperationalStatus == metal3.OperationalStatusOK
		})
		g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(2), "manage and adopt")
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		w.untilState(metal3.StateAvailable, time.Minute)
	})
}

func TestDeleteDetachedTouchesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, detached)
		w.sim.ResetCounts()
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.until("gone", time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
		for call, n := range w.sim.Counts() {
			g.Expect(strings.HasPrefix(call, "GET ")).To(BeTrue(), "%s: %d", call, n)
		}
		err := w.kube.Get(t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: "bmc"}, &corev1.Secret{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "nothing holds it back from garbage collection")
	})
}

func TestExternallyProvisioned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{AutomatedClean: true}, policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
		defer w.stop()
		w.untilState(metal3.StateExternallyProvisioned, time.Minute)
		w.until("powered on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		n, _ := w.sim.Node(lab.Namespace + "~" + lab.Name)
		g.Expect(n.ProvisionState).To(Equal("active"))
		g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(2), "manage and adopt")
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = false })
		w.until("powered off", time.Minute, func(h *metal3.BareMetalHost) bool { return !h.Status.PoweredOn })
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = false })
		w.untilState(metal3.StateAvailable, time.Minute)
	})
}

func TestLostAgentIsRestartedForItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Deploy = time.Hour
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.knowHeartbeats()
		w.until("installing", time.Minute, func(h *metal3.BareMetalHost) bool {
			return strings.Contains(condition(h, metal3.ProgressingCondition).Message, names.StartAssistedInstall)
		})
		w.sim.ResetCounts()
		w.sim.LoseAgent(lab.Namespace+"~"+lab.Name, true)
		w.until("noticed", 10*time.Minute, func(*metal3.BareMetalHost) bool {
			return slices.Contains(w.events.list(), "AgentLost")
		})
		let(time.Minute)
		g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(Equal(1), "once for each silence")
	})
}

func TestHubDeclaresFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Deploy = time.Hour
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer w.stop()
		w.until("installing", time.Minute, func(h *metal3.BareMetalHost) bool {
			return strings.Contains(condition(h, metal3.ProgressingCondition).Message, names.StartAssistedInstall)
		})
		w.report(policy.Progress{Stage: "Writing image to disk", Percent: 47, Text: "17 GB"})
		w.until("percent shown", 2*time.Second, func(h *metal3.BareMetalHost) bool { return view.Of(h).Percent == 45 })
		w.report(policy.Progress{Stage: "Writing image to disk", Percent: 47, Text: "17 GB", Failure: "the one before", FailedAt: time.Now().Add(-time.Hour)})
		let(20 * time.Second)
		g.Expect(w.host().Status.ErrorType).To(BeEmpty(), "a failure from before this deployment does not count")
		patches, _ := w.counted()
		w.report(policy.Progress{Stage: "Writing image to disk", Percent: 48, Text: "17 GB"})
		let(5 * time.Second)
		after, _ := w.counted()
		g.Expect(after).To(Equal(patches), "no patch for less than five percent")
		w.report(policy.Progress{Stage: "Writing image to disk", Failure: "cancelled by the user", FailedAt: time.Now()})
		let(8 * time.Second)
		g.Expect(w.host().Status.ErrorType).To(BeEmpty(), "the step may still give its own reason")
		w.until("failed", 5*time.Second, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ProvisioningError })
		g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("cancelled by the user"))
		w.until("torn down", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "available"
		})
		g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioning))
	})
}

func TestIronicUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer w.stop()
		w.untilState(metal3.StateInspecting, time.Minute)
		w.sim.Intercept(func(*http.Request) *simulator.Fault {
			return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "upgrade in progress"}
		})
		w.annotate("touched", "1")
		let(time.Hour)
		h := w.host()
		g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateInspecting))
		g.Expect(h.Status.ErrorType).To(BeEmpty(), "an absent Ironic costs a host nothing")
		g.Expect(condition(h, metal3.ManageableCondition).Reason).To(Equal("IronicUnavailable"))
		g.Expect(condition(h, metal3.ManageableCondition).Message).To(ContainSubstring("upgrade in progress"))
		w.sim.Intercept(nil)
		w.untilState(metal3.StateAvailable, 2*time.Minute)
		g.Expect(condition(w.host(), metal3.ManageableCondition).Status).To(Equal(metav1.ConditionTrue))
	})
}

func TestDeletionWithDeadBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var dead atomic.Bool
		w := newWorld(t, assisted(failing(&dead, "power", "", "the BMC does not answer")), policy.Settings{}, nil)
		defer w.stop()
		w.untilState(metal3.StateAvailable, time.Minute)
		w.until("powered on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		dead.Store(true)
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.until("failing", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.PowerManagementError })
		w.until("gone", 2*time.Hour, func(h *metal3.BareMetalHost) bool { return h == nil })
		let(time.Second)
		g.Expect(w.events.list()).To(ContainElement("DeletedWithoutPoweringOff"))
		g.Expect(w.sim.Nodes()).To(BeEmpty())
	})
}

func TestForceDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.sim.ResetCounts()
		w.annotate(names.ForceDelete, "another-name")
		w.annotate(names.Hold, "")
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		let(time.Minute)
		g.Expect(w.host()).NotTo(BeNil(), "held")
		w.edit(func(h *metal3.BareMetalHost) {
			delete(h.Annotations, names.Hold)
			h.Annotations[names.ForceDelete] = h.Name
		})
		w.until("gone", time.Second, func(h *metal3.BareMetalHost) bool { return h == nil })
		let(time.Second)
		g.Expect(w.events.list()).To(ContainElement("ForceDeleted"))
		g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero())
	})
}

func TestStatusRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
			wantInstall(h)
			raw, err := json.Marshal(metal3.BareMetalHostStatus{
				OperationalStatus: metal3.OperationalStatusOK, PoweredOn: true,
				Provisioning: metal3.ProvisionStatus{
					State: metal3.StateProvisioned, ID: "11111111-2222-4333-8444-555555555555",
					CustomDeploy: &metal3.CustomDeploy{Method: names.StartAssistedInstall},
				},
			})
			g.Expect(err).NotTo(HaveOccurred())
			h.Annotations = map[string]string{names.Status: string(raw)}
		})
		defer w.stop()
		w.until("adopted", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "active"
		})
		w.until("annotation gone", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Annotations[names.Status] == "" })
		g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(2), "manage and adopt, no inspection")
	})
	t.Run("unreadable", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
				h.Annotations = map[string]string{names.Status: "{"}
			})
			defer w.stop()
			w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
			let(time.Hour)
			g.Expect(w.sim.Nodes()).To(BeEmpty())
			g.Expect(w.host().Annotations).To(HaveKey(names.Status))
			w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Status) })
			w.untilState(metal3.StateAvailable, time.Minute)
		})
	})
}

func TestRestCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		w.sim.ResetCounts()
		patches, passes := w.counted()
		let(time.Hour)
		counts := w.sim.Counts()
		delete(counts, "GET /v1/nodes") // the watch's own, for the whole fleet
		g.Expect(counts).To(BeEmpty())
		patchesAfter, passesAfter := w.counted()
		g.Expect(patchesAfter).To(Equal(patches))
		g.Expect(passesAfter).To(Equal(passes))
	})
}
