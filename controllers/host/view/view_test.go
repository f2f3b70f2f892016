package view_test

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/catalog"
)

func TestMessage(t *testing.T) {
	for want, note := range map[string]view.Note{
		"":                                      {},
		"verifying":                             {Step: "verifying"},
		"start (45 %): writing":                 {Step: "start", Percent: 47, Text: "writing"},
		"start: writing; waiting for the agent": {Step: "start", Percent: 4, Text: "writing", WaitingFor: "the agent"},
		"start (100 %)":                         {Step: "start", Percent: 250},
		"start; waiting for you; in this phase since 2026-01-02T12:00:00Z": {Step: "start", WaitingFor: "you", Since: time.Date(2026, 1, 2, 12, 0, 0, 5, time.UTC)},
		"a - b; waiting for c": {Step: "a: b", WaitingFor: " c\n"},
	} {
		t.Run(want, func(t *testing.T) { NewWithT(t).Expect(note.Message()).To(Equal(want)) })
	}
}

func TestNoteSurvivesItsMessage(t *testing.T) {
	words := rapid.StringMatching(`[a-z_]{1,8}( [a-z0-9/.,]{1,8}){0,3}`)
	rapid.Check(t, func(r *rapid.T) {
		n := view.Note{Step: words.Draw(r, "step"), Percent: rapid.IntRange(0, 20).Draw(r, "percent") * view.Grain}
		if rapid.Bool().Draw(r, "text?") {
			n.Text = words.Draw(r, "text")
		}
		if rapid.Bool().Draw(r, "whom?") {
			n.WaitingFor = words.Draw(r, "whom")
		}
		if rapid.Bool().Draw(r, "since?") {
			n.Since = time.Unix(rapid.Int64Range(1, 4e9).Draw(r, "since"), 0).UTC()
		}
		if got := view.ParseNote(n.Message()); got != n {
			r.Fatalf("%q gives %+v, was %+v", n.Message(), got, n)
		}
	})
}

func TestView(t *testing.T) {
	noon := metav1.NewTime(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	host := func(state metal3.ProvisioningState, change func(*metal3.BareMetalHost)) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", CreationTimestamp: noon}}
		h.Status.Provisioning.State = state
		h.Status.OperationHistory.Provision.Start = noon
		h.Status.OperationHistory.Inspect.End = noon
		if change != nil {
			change(h)
		}
		return h
	}
	installing := func(h *metal3.BareMetalHost) {
		h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "start_assisted_install"}
		h.Status.Conditions = []metav1.Condition{{
			Type: "Progressing", Status: "True",
			Message: view.Note{Step: "start_assisted_install", Percent: 45, Text: "Writing image", WaitingFor: "the agent"}.Message(),
		}}
	}
	for name, c := range map[string]struct {
		host  *metal3.BareMetalHost
		check func(Gomega, view.View)
	}{
		"new": {host("", nil), func(g Gomega, v view.View) { g.Expect(v.Phase).To(Equal("new")); g.Expect(v.Busy()).To(BeFalse()) }},
		"installing": {host(metal3.StateProvisioning, installing), func(g Gomega, v view.View) {
			g.Expect(v.Step).To(Equal("start_assisted_install"))
			g.Expect(v.Percent).To(Equal(45))
			g.Expect(v.WaitingFor).To(Equal("the agent"))
			g.Expect(v.Method).To(Equal("start_assisted_install"))
			g.Expect(v.InPhase(noon.Add(time.Minute))).To(Equal(time.Minute))
			g.Expect(v.Busy()).To(BeTrue())
		}},
		"available": {host(metal3.StateAvailable, nil), func(g Gomega, v view.View) { g.Expect(v.Since).To(Equal(noon.Time)) }},
		"failed": {host(metal3.StateProvisioning, func(h *metal3.BareMetalHost) {
			h.Status.ErrorType, h.Status.ErrorMessage, h.Status.ErrorCount = metal3.ProvisioningError, "no disk", 2
		}), func(g Gomega, v view.View) {
			g.Expect(v.Reason).To(Equal("no disk"))
			g.Expect(v.Attempts).To(Equal(2))
			g.Expect(v.NextAction).To(ContainSubstring("kubectl annotate bmh -n lab a " + names.Retry))
		}},
		"paused": {
			host(metal3.StateProvisioned, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Paused: ""} }),
			func(g Gomega, v view.View) {
				g.Expect(v.Phase).To(Equal("paused"))
				g.Expect(v.State).To(Equal("provisioned"))
			},
		},
		"Ironic away": {host(metal3.StateInspecting, func(h *metal3.BareMetalHost) {
			h.Status.Conditions = []metav1.Condition{{Type: "Manageable", Status: "Unknown", Reason: "IronicUnavailable", Message: "Ironic is not available"}}
		}), func(g Gomega, v view.View) { g.Expect(v.Reason).To(Equal("Ironic is not available")) }},
		"held": {
			host(metal3.StateInspecting, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Hold: ""} }),
			func(g Gomega, v view.View) { g.Expect(v.NextAction).To(ContainSubstring(names.Hold)) },
		},
	} {
		t.Run(name, func(t *testing.T) { c.check(NewWithT(t), view.Of(c.host)) })
	}
}

// TestAHeldHostSaysSo: Progressing is False on hold, and readers get to see why.
func TestAHeldHostSaysSo(t *testing.T) {
	for name, state := range map[string]metal3.ProvisioningState{"at rest": metal3.StateAvailable, "at work": metal3.StateInspecting} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{}
			h.Annotations = map[string]string{names.Hold: "me"}
			h.Status.Provisioning.State = state
			h.Status.OperationHistory.Inspect.Start = metav1.NewTime(time.Unix(1, 0))
			h.Status.Conditions = []metav1.Condition{{
				Type: metal3.ProgressingCondition, Status: metav1.ConditionFalse, Reason: "OnHold",
				Message: "on hold; waiting for somebody to remove the annotation " + names.Hold,
			}}
			v := view.Of(h)
			g.Expect(v.Phase).To(Equal("on hold"))
			g.Expect(v.Step).To(Equal("on hold"))
			g.Expect(v.WaitingFor).To(ContainSubstring(names.Hold))
			g.Expect(v.Busy()).To(BeFalse())
			g.Expect(view.Stuck(h, time.Unix(1e6, 0))).To(BeEmpty(), "it is not late: nobody goes on with it")
		})
	}
}

// TestWhatKeepsAHostAtRestIsShown: one that rests and is not as wanted does not look idle.
func TestWhatKeepsAHostAtRestIsShown(t *testing.T) {
	g := NewWithT(t)
	h := &metal3.BareMetalHost{}
	h.Status.Provisioning.State = metal3.StateAvailable
	h.Status.Conditions = []metav1.Condition{{
		Type: metal3.ProgressingCondition, Status: metav1.ConditionFalse, Reason: "NotProgressing",
		Message: "in maintenance: disk swap; waiting for somebody to take the node out of maintenance in Ironic",
	}}
	v := view.Of(h)
	g.Expect(v.Step + " " + v.WaitingFor).To(Equal("in maintenance somebody to take the node out of maintenance in Ironic"))
	g.Expect(v.Busy()).To(BeFalse())
}

// TestAdviceFollowsTheReason: each reason of the Stalled condition has its own, and what
// ends by itself asks nobody for another attempt.
func TestAdviceFollowsTheReason(t *testing.T) {
	g := NewWithT(t)
	for c := range catalog.Of("BareMetalHost") {
		if c.Type == view.StalledCondition && c.Status == "True" {
			g.Expect(view.AdviceFor(c.Reason).Do).NotTo(Equal("see the reason"), c.Reason)
		}
	}
	for name, c := range map[string]struct {
		kind   metal3.ErrorType
		reason string // of the Stalled condition; empty for none
		change func(*metal3.BareMetalHost)
		says   string
		never  string
	}{
		"refused by Ironic, not the machine": {metal3.InspectionError, "RejectedByIronic", nil, "Ironic's configuration", "console"},
		"the image, not the BMC":             {metal3.RegistrationError, "LiveImageError", nil, "PreprovisioningImage", "kubectl annotate"},
		"a Secret":                           {metal3.RegistrationError, "BMCCredentialError", nil, "it goes on by itself", "kubectl annotate"},
		"a profile, not the BMC":             {metal3.RegistrationError, "InvalidSpec", nil, "field of the spec", "bmc.address"},
		"of another program":                 {metal3.InspectionError, "", nil, "console", ""},
		"of a version that is not known":     {metal3.InspectionError, "Moon", nil, "see the reason", "console"},
		"detached, where no attempt is made": {
			metal3.PowerManagementError, "PowerManagementError",
			func(h *metal3.BareMetalHost) { h.Status.OperationalStatus = metal3.OperationalStatusDetached },
			names.Detached, names.Retry,
		},
		"on hold, where no attempt is made": {
			metal3.PowerManagementError, "PowerManagementError",
			func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Hold: ""} },
			names.Hold, names.Retry,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{}
			h.Status.ErrorType = c.kind
			if c.reason != "" {
				h.Status.Conditions = []metav1.Condition{{Type: view.StalledCondition, Status: metav1.ConditionTrue, Reason: c.reason}}
			}
			if c.change != nil {
				c.change(h)
			}
			next := view.Of(h).NextAction
			g.Expect(next).To(ContainSubstring(c.says))
			if c.never != "" {
				g.Expect(next).NotTo(ContainSubstring(c.never))
			}
		})
	}
}
