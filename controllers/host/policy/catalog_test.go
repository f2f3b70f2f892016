package policy

import (
	"maps"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/trigger"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/catalog"
)

const kind = "BareMetalHost"

// situation is one thing that conditions are computed from.
type situation struct {
	h *metal3.BareMetalHost
	s Findings
}

// situations are all phases, with all that makes a difference to a condition.
func situations() []situation {
	nodes := []nodeaction.Sight{
		{},
		nodeaction.Summary(ironic.Row{}),
		nodeaction.Summary(ironic.Row{Fault: ironic.FaultPower}),
		nodeaction.Summary(ironic.Row{Fault: "clean failure"}),
		nodeaction.Summary(ironic.Row{Maintenance: true}),
		nodeaction.Summary(ironic.Row{ProvisionState: ironic.StateActive, PowerState: "error"}),
		nodeaction.Summary(ironic.Row{Health: "OK"}),
		nodeaction.Summary(ironic.Row{Health: "Warning"}),
		nodeaction.Summary(ironic.Row{Health: "Critical"}),
		nodeaction.Summary(ironic.Row{Health: "Purple"}),
	}
	causes := []string{
		"", causeCredentials, causeUnknownState, causeRejected, causeGivenUp, causeImage, causeVerifying, causePreflight, causeSpec, causeRestore,
		causeEndpoint, causeForeign, causeElsewhere, causeDouble, causeUndeployed, causeOther, causeMoved, causeBaseline, causeUnproven,
	}
	var all []situation
	for state := range phases {
		add := func(status metal3.OperationalStatus, kind metal3.ErrorType, s Findings) {
			h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Generation: 7}}
			h.Status.Provisioning.State, h.Status.OperationalStatus, h.Status.ErrorType = state, status, kind
			if kind != "" {
				h.Status.ErrorMessage = "it broke"
			}
			s.Now = noon
			all = append(all, situation{h, s})
		}
		for _, node := range nodes {
			add(metal3.OperationalStatusOK, "", Findings{Sight: node})
		}
		add(metal3.OperationalStatusOK, "", Findings{Down: "connection refused"})
		add(metal3.OperationalStatusServicing, "", Findings{})
		add(metal3.OperationalStatusOK, "", Findings{})
		all[len(all)-1].h.Annotations = map[string]string{names.Hold: "me"}
		add(metal3.OperationalStatusDetached, "", Findings{Sight: nodeaction.Summary(ironic.Row{Fault: ironic.FaultPower})})
		for errorType := range errorKinds {
			for _, cause := range causes {
				add(metal3.OperationalStatusError, errorType, Findings{Cause: cause})
			}
		}
	}
	refused := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Generation: 7}}
	d := &Decision{}
	failDetach(&Observed{Now: noon, Host: refused}, d, "it broke")
	refused.Status.Conditions = d.Status.Conditions
	recorded := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Generation: 7}}
	d = &Decision{}
	concernMachine(&Observed{Now: noon, Host: recorded, Sight: nodeaction.Summary(ironic.Row{Machine: "bmc redfish bmc.test 443"})}, d)
	recorded.Status.Conditions = d.Status.Conditions
	doubted := recorded.DeepCopy()
	d = decideWith(&Observed{Now: noon, Host: doubted})
	recordMachine(&Observed{Now: noon, Host: doubted}, d, "bmc redfish bmc.test 443", true)
	doubted.Status.Conditions = d.Status.Conditions
	kept := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Generation: 7}}
	kept.Status.Provisioning.State = metal3.StateProvisioning
	o := &Observed{Now: noon, Host: kept, BMC: nodespec.BMC{Secret: "bmc", Version: "1", Content: "c0ffee"}}
	d = decideWith(o)
	triedCredentials(o, d)
	countFailedDeployment(o, d)
	kept.Status.Conditions = d.Status.Conditions
	trigger.Of(trigger.Facts{Host: kept}).Store(kept)
	reconcile.SetCondition(kept, RetryCondition, metav1.ConditionTrue, ReasonRetryHandled, RetryMessage("now"))
	new(plan.Order).Take(&kept.Status, kept.Generation, noon)
	firmware.Record(&kept.Status, componentsOf(flash, flash), kept.Generation, noon)
	return append(all, situation{refused, Findings{Now: noon}}, situation{recorded, Findings{Now: noon}}, situation{doubted, Findings{Now: noon}}, situation{kept, Findings{Now: noon}})
}

// TestConditionsAreThoseOfTheCatalogue computes the conditions of every situation:
// what they say is listed, and all that is listed is said in one of them.
func TestConditionsAreThoseOfTheCatalogue(t *testing.T) {
	g := NewWithT(t)
	said := map[catalog.Condition]bool{}
	for _, x := range situations() {
		Summarise(x.h, x.s)
		for _, c := range x.h.Status.Conditions {
			g.Expect(catalog.Has(kind, c.Type, string(c.Status), c.Reason)).To(BeTrue(), "%s %s %s in %q (%s)",
				c.Type, c.Status, c.Reason, x.h.Status.Provisioning.State, x.h.Status.OperationalStatus)
			g.Expect(c.ObservedGeneration).To(BeEquivalentTo(7))
			said[catalog.Condition{Kind: kind, Type: c.Type, Status: string(c.Status), Reason: c.Reason}] = true
		}
	}
	for c := range catalog.Of(kind) {
		if c.Type == "Linked" {
			continue // the linking controller's: its own test holds it against the catalogue
		}
		c.Means = ""
		g.Expect(said).To(HaveKey(c), "never said")
	}
}

// TestUpstreamConditions is the contract with those who read the existing
// operator's conditions: one row for each phase, and for each thing that overrides it.
func TestUpstreamConditions(t *testing.T) {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	type says struct {
		status metav1.ConditionStatus
		reason string
	}
	working := func(reason string) map[string]says {
		return map[string]says{
			metal3.ManageableCondition: {yes, "Manageable"}, metal3.ProgressingCondition: {yes, reason},
			metal3.AvailableForProvisioningCondition: {no, "NotAvailable"}, metal3.ProvisionedCondition: {no, "NotProvisioned"}, metal3.ReadyCondition: {no, "NotProvisioned"},
		}
	}
	with := func(base map[string]says, condition string, s says) map[string]says { base[condition] = s; return base }
	resting := func(manageable says) map[string]says {
		return with(with(working(""), metal3.ManageableCondition, manageable), metal3.ProgressingCondition, says{no, "NotProgressing"})
	}
	used := with(with(resting(says{yes, "Manageable"}), metal3.ProvisionedCondition, says{yes, "Provisioned"}), metal3.ReadyCondition, says{yes, "Provisioned"})
	provisioned := func() map[string]says {
		c := map[string]says{}
		maps.Copy(c, used)
		return c
	}
	failed := func(h *metal3.BareMetalHost) {
		h.Status.OperationalStatus, h.Status.ErrorType = metal3.OperationalStatusError, metal3.RegistrationError
	}
	status := func(s metal3.OperationalStatus) func(*metal3.BareMetalHost) {
		return func(h *metal3.BareMetalHost) { h.Status.OperationalStatus = s }
	}
	powerless := Findings{Sight: nodeaction.Summary(ironic.Row{Fault: ironic.FaultPower})}
	for name, c := range map[string]struct {
		state State
		given func(*metal3.BareMetalHost)
		sight Findings
		want  map[string]says
	}{
		"new":         {state: StateNone, want: resting(says{no, "NotManaged"})},
		"unmanaged":   {state: metal3.StateUnmanaged, want: resting(says{no, "NotManaged"})},
		"registering": {state: metal3.StateRegistering, want: with(working("Registering"), metal3.ManageableCondition, says{no, "Registering"})},
		"registering, failed": {
			state: metal3.StateRegistering,
			given: failed,
			want:  with(with(working("Registering"), metal3.ManageableCondition, says{no, "RegistrationFailed"}), metal3.ReadyCondition, says{no, "Error"}),
		},
		"inspecting":             {state: metal3.StateInspecting, want: working("Inspecting")},
		"preparing":              {state: metal3.StatePreparing, want: working("Preparing")},
		"available":              {state: metal3.StateAvailable, want: with(resting(says{yes, "Manageable"}), metal3.AvailableForProvisioningCondition, says{yes, "Available"})},
		"provisioning":           {state: metal3.StateProvisioning, want: working("Provisioning")},
		"provisioning, failed":   {state: metal3.StateProvisioning, given: failed, want: with(working("Provisioning"), metal3.ReadyCondition, says{no, "Error"})},
		"provisioned":            {state: metal3.StateProvisioned, want: provisioned()},
		"externally provisioned": {state: metal3.StateExternallyProvisioned, want: provisioned()},
		"deprovisioning":         {state: metal3.StateDeprovisioning, want: working("Deprovisioning")},
		"powering off":           {state: metal3.StatePoweringOffBeforeDelete, want: working("PoweringOffBeforeDelete")},
		"deleting":               {state: StateDeleting, want: working("Deleting")},
		"servicing":              {state: metal3.StateProvisioned, given: status(metal3.OperationalStatusServicing), want: with(provisioned(), metal3.ReadyCondition, says{no, "Servicing"})},
		"detached": {
			state: metal3.StateProvisioned,
			given: status(metal3.OperationalStatusDetached),
			want:  with(with(provisioned(), metal3.ReadyCondition, says{no, "Detached"}), metal3.ProgressingCondition, says{no, "Detached"}),
		},
		"power failure":              {state: metal3.StateProvisioned, sight: powerless, want: with(provisioned(), metal3.ManageableCondition, says{no, "PowerFailure"})},
		"power failure, registering": {state: metal3.StateRegistering, sight: powerless, want: with(working("Registering"), metal3.ManageableCondition, says{no, "Registering"})},
		"power failure, deleting":    {state: StateDeleting, sight: powerless, want: working("Deleting")},
		"power failure, detached": {
			state: metal3.StateProvisioned, sight: powerless,
			given: status(metal3.OperationalStatusDetached),
			want:  with(with(provisioned(), metal3.ReadyCondition, says{no, "Detached"}), metal3.ProgressingCondition, says{no, "Detached"}),
		},
		"healthy": {
			state: metal3.StateProvisioned, sight: Findings{Sight: nodeaction.Summary(ironic.Row{Health: "OK"})},
			want: with(provisioned(), metal3.HealthyCondition, says{yes, "Healthy"}),
		},
		"warning": {
			state: metal3.StateProvisioned, sight: Findings{Sight: nodeaction.Summary(ironic.Row{Health: "Warning"})},
			want: with(provisioned(), metal3.HealthyCondition, says{no, "Warning"}),
		},
		"critical": {
			state: metal3.StateProvisioned, sight: Findings{Sight: nodeaction.Summary(ironic.Row{Health: "Critical"})},
			want: with(provisioned(), metal3.HealthyCondition, says{no, "CriticalError"}),
		},
		"another word": {
			state: metal3.StateProvisioned, sight: Findings{Sight: nodeaction.Summary(ironic.Row{Health: "so so"})},
			want: with(provisioned(), metal3.HealthyCondition, says{unknown, "Unknown"}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{}
			h.Status.Provisioning.State, h.Status.OperationalStatus = c.state, metal3.OperationalStatusOK
			if c.given != nil {
				c.given(h)
			}
			c.sight.Now = noon
			Summarise(h, c.sight)
			got := map[string]says{}
			for _, x := range h.Status.Conditions {
				if x.Type != view.StalledCondition {
					got[x.Type] = says{x.Status, x.Reason}
				}
			}
			g.Expect(got).To(Equal(c.want))
		})
	}
}

// TestHealthKeepsWhatItSaidLast covers a BMC that has no word on it any more.
func TestHealthKeepsWhatItSaidLast(t *testing.T) {
	g := NewWithT(t)
	h := &metal3.BareMetalHost{}
	h.Status.Provisioning.State = metal3.StateProvisioned
	Summarise(h, Findings{Now: noon, Sight: nodeaction.Summary(ironic.Row{Health: "Warning"})})
	Summarise(h, Findings{Now: noon.Add(time.Hour), Sight: nodeaction.Summary(ironic.Row{})})
	Summarise(h, Findings{Now: noon.Add(time.Hour)})
	g.Expect(meta.FindStatusCondition(h.Status.Conditions, metal3.HealthyCondition).Reason).To(Equal("Warning"))
}

// kstatus computes what tools make of conditions that do not know the kind
// (sigs.k8s.io/cli-utils/pkg/kstatus), for the conditions that a host has.
func kstatus(h *metal3.BareMetalHost) string {
	switch {
	case h.DeletionTimestamp != nil:
		return "Terminating"
	case meta.IsStatusConditionTrue(h.Status.Conditions, "Reconciling"):
		return "InProgress"
	case meta.IsStatusConditionTrue(h.Status.Conditions, "Stalled"):
		return "Failed"
	case meta.IsStatusConditionTrue(h.Status.Conditions, "Ready"):
		return "Current"
	}
	return "InProgress"
}

func TestKstatus(t *testing.T) {
	g := NewWithT(t)
	for _, x := range situations() {
		Summarise(x.h, x.s)
		want := "InProgress"
		switch {
		case x.h.Status.ErrorType != "":
			want = "Failed"
		case nodespec.InUse(x.h) && x.h.Status.OperationalStatus == metal3.OperationalStatusOK:
			want = "Current"
		}
		g.Expect(kstatus(x.h)).To(Equal(want), "%q %s", x.h.Status.Provisioning.State, x.h.Status.OperationalStatus)
	}
}

func TestProgressingSaysSinceWhen(t *testing.T) {
	g := NewWithT(t)
	h := &metal3.BareMetalHost{}
	h.Status.Provisioning.State = metal3.StateInspecting
	h.Status.OperationHistory.Inspect.Start = metav1.NewTime(noon)
	note := view.Note{Step: "inspecting the hardware", WaitingFor: "the agent", Percent: 42}
	Summarise(h, Findings{Now: noon.Add(time.Minute), Note: note})
	c := meta.FindStatusCondition(h.Status.Conditions, metal3.ProgressingCondition)
	g.Expect(c.Message).To(Equal("inspecting the hardware (40 %); waiting for the agent; in this phase since 2026-01-02T12:00:00Z"))
	Summarise(h, Findings{Now: noon.Add(time.Hour), Note: note})
	g.Expect(meta.FindStatusCondition(h.Status.Conditions, metal3.ProgressingCondition).Message).To(Equal(c.Message), "no clock that makes writes")
	g.Expect(view.Of(h).Note.WaitingFor).To(Equal("the agent"))
}

func TestStuck(t *testing.T) {
	host := func(state State, begin time.Time, change func(*metal3.BareMetalHost)) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{}
		h.Status.Provisioning.State = state
		h.Status.OperationHistory.Inspect.Start = metav1.NewTime(begin)
		h.Status.OperationHistory.Inspect.End = metav1.NewTime(begin)
		if change != nil {
			change(h)
		}
		return h
	}
	failing := func(h *metal3.BareMetalHost) {
		h.Status.Conditions = []metav1.Condition{{Type: view.StalledCondition, Status: "True", Reason: "InspectionError"}}
	}
	for name, c := range map[string]struct {
		h    *metal3.BareMetalHost
		want string
	}{
		"at work":          {host(metal3.StateInspecting, noon.Add(-time.Minute), nil), ""},
		"for too long":     {host(metal3.StateInspecting, noon.Add(-time.Hour), nil), view.ReasonOverdue},
		"failing":          {host(metal3.StateInspecting, noon, failing), "InspectionError"},
		"at rest for ever": {host(metal3.StateAvailable, noon.Add(-1000*time.Hour), nil), ""},
		"paused": {host(metal3.StateInspecting, noon.Add(-time.Hour), func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Paused: ""}
		}), ""},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(view.Stuck(c.h, noon)).To(Equal(c.want)) })
	}
}
