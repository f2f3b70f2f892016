package view

import (
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
)

// Condition types of ours beside the upstream ones.
const (
	// StalledCondition is True while the host shows an error: its reason names the
	// kind, its message the cause and when it is tried again. kstatus reads it.
	StalledCondition = "Stalled"
)

// View is one host as a person sees it. Times are zero when unknown.
type View struct {
	Namespace, Name string
	// Phase is the provisioning state, "new" before the first, with "detached",
	// "paused", "on hold" or "deleting" in its place where that is the news.
	Phase string
	// State is the bare provisioning state.
	State string
	// Note is what happens right now, or what keeps a host at rest from being as wanted;
	// its Step is empty for a host that is left alone.
	Note
	// Since is when the phase began.
	Since time.Time
	// Reason is why the host does not go on, empty while all is well.
	Reason string
	// ErrorType is the API's name of the error, empty for none.
	ErrorType string
	// Attempts counts failures in a row.
	Attempts int
	// NextAction is what a person can do, empty when nothing is asked of anybody.
	NextAction string
	// PoweredOn is the power as last seen; Online is what is wanted.
	PoweredOn, Online bool
	// Consumer is "Kind/name" of who uses the host, empty for nobody.
	Consumer string
	// Method is the custom deploy method or the image's URL that is wanted, empty for none.
	Method string

	progressing bool
}

// Of reads a host.
func Of(h *metal3.BareMetalHost) View {
	v := View{
		Namespace: h.Namespace, Name: h.Name,
		State: string(h.Status.Provisioning.State), Phase: phaseOf(h),
		Since: Since(h), ErrorType: string(h.Status.ErrorType), Attempts: h.Status.ErrorCount,
		PoweredOn: h.Status.PoweredOn, Online: h.Spec.Online,
		Method: method(h),
	}
	if c := h.Spec.ConsumerRef; c != nil {
		v.Consumer = c.Kind + "/" + c.Name
	}
	if c := meta.FindStatusCondition(h.Status.Conditions, metal3.ProgressingCondition); c != nil {
		v.Note, v.progressing = ParseNote(c.Message), c.Status == metav1.ConditionTrue
	}
	v.Reason = reason(h)
	v.NextAction = nextAction(h)
	return v
}

// Busy reports whether something is under way that will end by itself.
func (v View) Busy() bool { return v.ErrorType == "" && v.progressing && v.Step != "" }

// InPhase is how long the phase has lasted at now; 0 when unknown.
func (v View) InPhase(now time.Time) time.Duration {
	if v.Since.IsZero() || now.Before(v.Since) {
		return 0
	}
	return now.Sub(v.Since)
}

// phaseOf names the phase with what overrides it.
func phaseOf(h *metal3.BareMetalHost) string {
	_, paused := h.Annotations[metal3.PausedAnnotation]
	_, held := h.Annotations[names.Hold]
	switch {
	case paused:
		return "paused"
	case held:
		return "on hold"
	case h.Status.OperationalStatus == metal3.OperationalStatusDetached:
		return "detached"
	case h.Status.Provisioning.State == "":
		return "new"
	}
	return string(h.Status.Provisioning.State)
}

// Since finds when the phase began: the operation history knows four phases, the
// others begin where the one before ended. It is zero when that is not known.
func Since(h *metal3.BareMetalHost) time.Time {
	history := h.Status.OperationHistory
	switch h.Status.Provisioning.State {
	case metal3.StateRegistering:
		return history.Register.Start.Time
	case metal3.StateInspecting:
		return history.Inspect.Start.Time
	case metal3.StatePreparing, metal3.StateAvailable, metal3.StateReady:
		return latest(history.Inspect.End.Time, history.Register.End.Time, history.Deprovision.End.Time)
	case metal3.StateProvisioning:
		return history.Provision.Start.Time
	case metal3.StateProvisioned:
		return history.Provision.End.Time
	case metal3.StateExternallyProvisioned:
		return history.Register.End.Time
	case metal3.StateDeprovisioning:
		return history.Deprovision.Start.Time
	case metal3.StatePoweringOffBeforeDelete, metal3.StateDeleting:
		if h.DeletionTimestamp != nil {
			return h.DeletionTimestamp.Time
		}
	case metal3.StateNone, metal3.StateUnmanaged:
		return h.CreationTimestamp.Time
	case metal3.StateMatchProfile:
	}
	return time.Time{}
}

func latest(times ...time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// method names what the user wants on the host.
func method(h *metal3.BareMetalHost) string {
	switch {
	case h.Spec.CustomDeploy != nil && h.Spec.CustomDeploy.Method != "":
		return h.Spec.CustomDeploy.Method
	case h.Spec.Image != nil:
		return h.Spec.Image.URL
	}
	return ""
}

// reason says in one line why a host does not go on.
func reason(h *metal3.BareMetalHost) string {
	if h.Status.ErrorType != "" {
		return strings.TrimSpace(h.Status.ErrorMessage)
	}
	c := meta.FindStatusCondition(h.Status.Conditions, metal3.ManageableCondition)
	if c != nil && c.Status != metav1.ConditionTrue && troubled(c.Reason) {
		return c.Message
	}
	return ""
}

// troubled tells reasons of a missing Manageable that are news from those that
// only name the phase.
func troubled(reason string) bool {
	return reason != metal3.NotManagedReason && reason != metal3.RegisteringReason
}
