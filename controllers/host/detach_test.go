package host

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// refuseToDelete has Ironic refuse to delete nodes.
func refuseToDelete(r *http.Request) *simulator.Fault {
	if r.Method == http.MethodDelete && !strings.HasSuffix(r.URL.Path, "/maintenance") {
		return &simulator.Fault{Status: http.StatusBadRequest, Text: "Node has volume targets."}
	}
	return nil
}

// TestDetachingFails has Ironic refuse to let go of a node: the host is no failing one
// for that, says what is wrong, and is tried less and less often, or when asked for.
func TestDetachingFails(t *testing.T) {
	eachAtRest(t, func(t *testing.T, w *world) {
		g := NewWithT(t)
		w.sim.Intercept(refuseToDelete)
		w.annotate(names.Detached, "")
		w.until("told", time.Minute, func(h *metal3.BareMetalHost) bool {
			return condition(h, "DetachFailed").Reason == "DetachError"
		})
		h := w.host()
		g.Expect(h.Status.ErrorType).To(BeEmpty())
		g.Expect(h.Status.OperationalStatus).To(Equal(metal3.OperationalStatusOK))
		g.Expect(condition(h, "DetachFailed").Message).To(And(ContainSubstring("Node has volume targets."), ContainSubstring("Next: ")))
		g.Expect(condition(h, metal3.ProgressingCondition).Message).To(ContainSubstring("the next attempt"))
		let(24 * time.Hour)
		told := slices.DeleteFunc(w.events.list(), func(reason string) bool { return reason != "DetachError" })
		g.Expect(len(told)).To(And(BeNumerically(">", 6), BeNumerically("<", 16)))
		// Once with its instance, without which Ironic might have let it go.
		g.Expect(w.sim.Counts()["DELETE /v1/nodes/{node}"]).To(BeNumerically("<=", len(told)+1))
		g.Expect(w.events.list()).NotTo(ContainElement("RegistrationError"))

		w.sim.Intercept(nil)
		w.annotate(names.Retry, "now")
		w.until("detached", time.Minute, detached)
		g.Expect(meta.FindStatusCondition(w.host().Status.Conditions, "DetachFailed")).To(BeNil())
		g.Expect(w.sim.Nodes()).To(BeEmpty())
	})
}

// TestDetachingThatFailsIsCalledOff takes the wish back: nothing of it is left.
func TestDetachingThatFailsIsCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.sim.Intercept(refuseToDelete)
		w.annotate(names.Detached, "")
		w.until("told", time.Minute, func(h *metal3.BareMetalHost) bool {
			return meta.IsStatusConditionTrue(h.Status.Conditions, "DetachFailed")
		})
		w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
		w.until("as before", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return !n.Maintenance && meta.FindStatusCondition(h.Status.Conditions, "DetachFailed") == nil
		})
		g.Expect(w.host().Status.ErrorCount).To(BeZero())
	})
}

// TestADetachedHostNeedsNoCredentials: it has a node in no Ironic.
func TestADetachedHostNeedsNoCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, detached)
		let(time.Minute)
		secret := &corev1.Secret{}
		w.g.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: "bmc"}, secret)).To(Succeed())
		secret.Data = map[string][]byte{}
		w.g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
		let(10 * time.Minute)
		t.Logf("%q %q %q", w.host().Status.OperationalStatus, w.host().Status.ErrorType, w.host().Status.ErrorMessage)
		w.g.Expect(detached(w.host())).To(BeTrue())
	})
}

// TestAFailingHostThatIsToBeDetachedIsDetachedAfterARestart: letting go of a node is no further attempt at what failed.
func TestAFailingHostThatIsToBeDetachedIsDetachedAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		h := w.host()
		h.Status.ErrorType, h.Status.ErrorMessage, h.Status.ErrorCount = metal3.PowerManagementError, "no power", 9
		h.Status.OperationalStatus = metal3.OperationalStatusError
		meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{
			Type: "Stalled", Status: metav1.ConditionTrue, Reason: "PowerManagementError", ObservedGeneration: h.Generation, LastTransitionTime: metav1.Now(),
		})
		w.g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
		w.stop()
		w.annotate(names.Detached, "")
		w.start(policy.Settings{})
		w.g.Expect(w.until("detached", 12*time.Hour, detached)).To(BeNumerically("<", time.Minute))
	})
}

// TestADetachedHostWhoseStatusIsLost is neither enrolled nor inspected, and goes when it is deleted.
func TestADetachedHostWhoseStatusIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, detached)
		w.stop()
		h := w.host()
		h.Status = metal3.BareMetalHostStatus{}
		g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		w.until("detached again", time.Minute, detached)
		let(time.Hour)
		g.Expect(w.sim.Counts()["POST /v1/nodes"]).To(BeZero(), "it was enrolled, and detached when it was available")
		h = w.host()
		g.Expect(h.Status.Provisioning.State).To(BeEmpty())
		g.Expect(h.Status.ErrorType).To(BeEmpty())
		g.Expect(condition(h, metal3.ProgressingCondition).Message).To(ContainSubstring("somebody to remove the annotation " + names.Detached))

		g.Expect(w.kube.Delete(t.Context(), h)).To(Succeed())
		let(time.Minute)
		g.Expect(w.kube.Get(t.Context(), w.key, &metal3.BareMetalHost{})).NotTo(Succeed())
		g.Expect(w.sim.Nodes()).To(BeEmpty())
	})
}

// TestADetachedHostWhoseStatusIsLostWhileItsNodeIsEnrolled: the node of an enrolment that was under way tells of nothing that runs.
func TestADetachedHostWhoseStatusIsLostWhileItsNodeIsEnrolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.until("a node", time.Minute, func(*metal3.BareMetalHost) bool { return len(w.sim.Nodes()) == 1 })
		w.stop()
		w.annotate(names.Detached, "")
		h := w.host()
		h.Status = metal3.BareMetalHostStatus{}
		g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
		w.start(policy.Settings{})
		w.until("detached", time.Minute, detached)
		let(time.Hour)
		g.Expect(w.sim.Nodes()).To(BeEmpty())
		g.Expect(w.host().Status.OperationHistory.Inspect.Start.IsZero()).To(BeTrue())
		g.Expect(w.host().Status.Provisioning.State).To(BeEmpty())
	})
}
