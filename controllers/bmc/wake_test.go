package bmc

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// progressing is a host's condition of that kind.
func progressing(status metav1.ConditionStatus, since time.Time) []metav1.Condition {
	return []metav1.Condition{{Type: metal3.ProgressingCondition, Status: status, Reason: "Test", LastTransitionTime: metav1.NewTime(since)}}
}

// TestWhatWakesAPass: a change that a pass would see, and no other.
func TestWhatWakesAPass(t *testing.T) {
	then := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	atRest := func(h *metal3.BareMetalHost) {
		h.Status.Provisioning.State, h.Status.OperationalStatus = metal3.StateAvailable, metal3.OperationalStatusOK
		h.Status.Conditions = progressing(metav1.ConditionFalse, then)
	}
	inPhase := func(state metal3.ProvisioningState) func(h *metal3.BareMetalHost) {
		return func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = state }
	}
	annotate := func(key string) func(h *metal3.BareMetalHost) {
		return func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{key: "true"} }
	}
	for name, c := range map[string]struct {
		before, change func(h *metal3.BareMetalHost)
		wakes          bool
	}{
		"a wish":                      {change: level("1"), wakes: true},
		"another address":             {change: func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "redfish://192.0.2.2" }, wakes: true},
		"a host that is taken":        {before: inPhase(metal3.StateNone), change: inPhase(metal3.StateRegistering), wakes: true},
		"preparation":                 {change: inPhase(metal3.StatePreparing), wakes: true},
		"its end":                     {before: inPhase(metal3.StatePreparing), change: inPhase(metal3.StateProvisioning), wakes: true},
		"a phase like that before":    {change: inPhase(metal3.StateInspecting)},
		"another password":            {change: func(h *metal3.BareMetalHost) { h.Status.TriedCredentials.Version = "7" }, wakes: true},
		"a probe that is asked for":   {change: annotate("ironflow.io/probe"), wakes: true},
		"a verdict that is overruled": {change: annotate("ironflow.io/preflight-override"), wakes: true},
		"hands off":                   {change: annotate("ironflow.io/hold"), wakes: true},
		"a pause":                     {change: annotate("baremetalhost.metal3.io/paused"), wakes: true},
		"an end":                      {change: func(h *metal3.BareMetalHost) { h.DeletionTimestamp = new(metav1.NewTime(then)) }, wakes: true},
		"volumes that were made":      {change: func(h *metal3.BareMetalHost) { h.Status.Provisioning.RAID = &metal3.RAIDConfig{} }, wakes: true},
		"rest":                        {change: atRest, wakes: true},
		"another rest": {before: atRest, change: func(h *metal3.BareMetalHost) {
			h.Status.Conditions = progressing(metav1.ConditionFalse, then.Add(time.Minute))
		}, wakes: true},
		"a fault at rest": {before: atRest, change: func(h *metal3.BareMetalHost) { h.Status.ErrorType = metal3.PowerManagementError }, wakes: true},
		"an architecture that is found": {change: func(h *metal3.BareMetalHost) {
			h.Status.HardwareDetails = &metal3.HardwareDetails{CPU: metal3.CPU{Arch: "aarch64"}}
		}, wakes: true},
		"parts that are found":    {change: func(h *metal3.BareMetalHost) { h.Status.HardwareDetails = &metal3.HardwareDetails{RAMMebibytes: 1} }},
		"words on the way":        {change: func(h *metal3.BareMetalHost) { h.Status.Conditions = progressing(metav1.ConditionTrue, then) }},
		"power":                   {change: func(h *metal3.BareMetalHost) { h.Status.PoweredOn = true }},
		"an annotation of others": {change: annotate("example.org/note")},
		"a label":                 {change: func(h *metal3.BareMetalHost) { h.Labels = map[string]string{"rack": "7"} }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
			h.Status.Provisioning.State = metal3.StateRegistering
			if c.before != nil {
				c.before(h)
			}
			after := h.DeepCopy()
			c.change(after)
			g.Expect(otherToRead{}.Update(event.TypedUpdateEvent[kclient.Object]{ObjectOld: h, ObjectNew: after})).To(Equal(c.wakes))
		})
	}
}

// TestReadyFollowsWhatOthersFind: the condition of another controller shows in Ready at
// once, and so does its end; nobody asks the BMC for that.
func TestReadyFollowsWhatOthersFind(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.registering()
	w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	asked := w.Sim.Total("")
	found := func(status metav1.ConditionStatus, reason, message string) {
		w.Eventually(func() error {
			b := w.BMC()
			reconcile.SetCondition(&b, v1alpha1.CredentialsCurrent, status, reason, message)
			return w.Kube.Status().Update(t.Context(), &b)
		}).WithTimeout(time.Minute).Should(Succeed())
	}
	found(metav1.ConditionFalse, "Quarantined", "neither password holds")
	w.Until(v1alpha1.Ready, metav1.ConditionFalse, "Quarantined")
	found(metav1.ConditionFalse, "Quarantined", "neither password holds; see docs")
	w.Eventually(func() []metav1.Condition { return w.BMC().Status.Conditions }).WithTimeout(time.Minute).
		Should(ContainElement(And(HaveField("Type", v1alpha1.Ready), HaveField("Message", "neither password holds; see docs"))))
	found(metav1.ConditionTrue, "Current", "")
	w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	w.Expect(w.Sim.Total("")).To(Equal(asked))
}
