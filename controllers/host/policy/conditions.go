package policy

import (
	"cmp"
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// Reasons of ours on upstream conditions.
const (
	reasonIronicUnavailable = "IronicUnavailable"
	reasonMaintenance       = "Maintenance"
	reasonFault             = "NodeFault"
	reasonPowerUnknown      = "PowerStateUnknown"
	reasonNotFailing        = "NotFailing"
	reasonOnHold            = "OnHold"
)

// Findings is what conditions are computed from besides the host.
type Findings struct {
	// Now is the time of the pass.
	Now time.Time
	// Told means that Ironic was told all of the spec in this pass.
	Told bool
	// Sight is what is known of the node at the end of this pass.
	nodeaction.Sight
	// Note is what happens.
	Note view.Note
	// Down is why Ironic cannot be asked, empty while it answers.
	Down string
	// Cause is the reason of an error that was recorded in this pass, empty for none.
	Cause string
}

// Summarise computes every condition of a host. It is called at the end of every
// pass, whatever the pass came to.
func Summarise(h *metal3.BareMetalHost, s Findings) {
	for _, set := range []func(*metal3.BareMetalHost, Findings){
		setProgressing, setManageable, setAvailable, setProvisioned, setReady, setHealthy, setStalled,
	} {
		set(h, s)
	}
}

func boolStatus(b bool) metav1.ConditionStatus {
	if b {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// setProgressing says phase, step and percent. At rest it is False, and its
// message says what keeps a host that is not left alone (power, maintenance). It is
// False on hold as well, in whatever phase: nobody goes on with it.
func setProgressing(h *metal3.BareMetalHost, s Findings) {
	reason := phases[h.Status.Provisioning.State].reason
	note := s.Note
	if reason != "" {
		note.Since = view.Since(h)
	}
	if s.Down != "" {
		note.Text = "Ironic is not available (" + s.Down + ")"
		note.WaitingFor = "Ironic"
	}
	message := note.Message()
	switch {
	case reconcile.KeptOff(h) != "":
		reconcile.SetCondition(h, metal3.ProgressingCondition, metav1.ConditionFalse, reasonOnHold, message)
	case isDetached(h):
		reconcile.SetCondition(h, metal3.ProgressingCondition, metav1.ConditionFalse, metal3.DetachedReason, message)
	case reason == "":
		reconcile.SetCondition(h, metal3.ProgressingCondition, metav1.ConditionFalse, metal3.NotProgressingReason, message)
	default:
		reconcile.SetCondition(h, metal3.ProgressingCondition, metav1.ConditionTrue, reason, message)
	}
}

// setManageable says whether Ironic and the machine's BMC can be worked with.
func setManageable(h *metal3.BareMetalHost, s Findings) {
	state := h.Status.Provisioning.State
	was := meta.FindStatusCondition(h.Status.Conditions, metal3.ManageableCondition)
	untold := was != nil && phases[state].node && !s.Told
	set := func(status metav1.ConditionStatus, reason, message string) {
		if untold { // so that what is new in the spec is yet to be told: see newSpec
			reconcile.SetConditionOf(h, was.ObservedGeneration, metal3.ManageableCondition, status, reason, message)
			return
		}
		reconcile.SetCondition(h, metal3.ManageableCondition, status, reason, message)
	}
	switch {
	case state == StateNone || state == metal3.StateUnmanaged:
		set(metav1.ConditionFalse, metal3.NotManagedReason, "the spec names no BMC")
	case s.Down != "":
		set(metav1.ConditionUnknown, reasonIronicUnavailable, "Ironic is not available; the host keeps its state: "+s.Down+". Next: check Ironic; the host goes on by itself when it answers")
	case state == metal3.StateRegistering && h.Status.ErrorType != "":
		set(metav1.ConditionFalse, metal3.RegistrationFailedReason, h.Status.ErrorMessage)
	case state == metal3.StateRegistering:
		set(metav1.ConditionFalse, metal3.RegisteringReason, s.Note.Message())
	case state == StateDeleting && (s.Node == nil || !byPerson(h, s.Sight, nil)), isDetached(h):
		set(metav1.ConditionTrue, metal3.ManageableReason, "") // the node's own troubles end with it
	case s.Node != nil && s.Node.Fault == ironic.FaultPower:
		set(metav1.ConditionFalse, metal3.PowerFailureReason, faultText(s.Node)+". Next: check the BMC, its network and its Secret; "+
			"Ironic asks it every few minutes (power_failure_recovery_interval), and the host goes on by itself when it answers")
	case s.Node != nil && s.Node.Fault != "" && !byPerson(h, s.Sight, nil):
		set(metav1.ConditionFalse, reasonFault, faultText(s.Node)+". Next: see Stalled; the next attempt clears it")
	case s.Node != nil && s.Node.Maintenance:
		set(metav1.ConditionFalse, reasonMaintenance, "the node is in maintenance in Ironic: "+whyMaintenance(s.Sight)+". Next: take it out of maintenance there")
	case s.Node != nil && phases[state].steady && powerUnknown(s.Node):
		set(metav1.ConditionFalse, reasonPowerUnknown, powerUnknownText(s.Node)+". Next: check the BMC, its network and its Secret; "+
			"Ironic asks it at its next power sync, and the host goes on by itself when it answers")
	case s.Node == nil && keepsTrouble(h):
		// Nothing new is known about the node in this pass.
	default:
		set(metav1.ConditionTrue, metal3.ManageableReason, "")
	}
}

// keepsTrouble reports a condition that only a look at the node can end.
func keepsTrouble(h *metal3.BareMetalHost) bool {
	c := meta.FindStatusCondition(h.Status.Conditions, metal3.ManageableCondition)
	return c != nil && (c.Reason == metal3.PowerFailureReason || c.Reason == reasonFault || c.Reason == reasonMaintenance || c.Reason == reasonPowerUnknown)
}

// powerUnknownText says what Ironic has in the place of a power state.
func powerUnknownText(n *ironic.Row) string {
	text := "Ironic does not know whether the machine is on (power state " + cmp.Or(string(n.PowerState), "null") + ")"
	if n.LastError != "" {
		text += ": " + n.LastError
	}
	return text
}

func faultText(n *ironic.Row) string {
	text := "Ironic reports: " + n.Fault
	if n.LastError != "" {
		text += ": " + n.LastError
	}
	return text
}

func setAvailable(h *metal3.BareMetalHost, _ Findings) {
	state := h.Status.Provisioning.State
	free := state == metal3.StateAvailable || state == metal3.StateReady
	reason := metal3.NotAvailableReason
	if free {
		reason = metal3.AvailableReason
	}
	reconcile.SetCondition(h, metal3.AvailableForProvisioningCondition, boolStatus(free), reason, "")
}

func setProvisioned(h *metal3.BareMetalHost, _ Findings) {
	reason := metal3.NotProvisionedReason
	if nodespec.InUse(h) {
		reason = metal3.ProvisionedReason
	}
	reconcile.SetCondition(h, metal3.ProvisionedCondition, boolStatus(nodespec.InUse(h)), reason, "")
}

// setReady is the host's one-word answer: provisioned and without an error.
func setReady(h *metal3.BareMetalHost, _ Findings) {
	status, reason, message := nodespec.InUse(h), metal3.NotProvisionedReason, ""
	if status {
		reason = metal3.ProvisionedReason
	}
	switch h.Status.OperationalStatus {
	case metal3.OperationalStatusError:
		status, reason, message = false, metal3.ErrorReason, h.Status.ErrorMessage
	case metal3.OperationalStatusServicing:
		status, reason = false, metal3.ServicingReason
	case metal3.OperationalStatusDetached:
		status, reason = false, metal3.DetachedReason
	default:
	}
	reconcile.SetCondition(h, metal3.ReadyCondition, boolStatus(status), reason, message)
}

// setHealthy repeats what Ironic says about the machine's own health. Of a detached host
// it says nothing any more.
func setHealthy(h *metal3.BareMetalHost, s Findings) {
	if isDetached(h) && meta.FindStatusCondition(h.Status.Conditions, metal3.HealthyCondition) != nil {
		reconcile.SetCondition(h, metal3.HealthyCondition, metav1.ConditionUnknown, metal3.UnknownHealthReason, "the host is detached: nobody looks at its machine")
		return
	}
	if s.Node == nil || s.Node.Health == "" {
		return
	}
	status, reason := metav1.ConditionUnknown, metal3.UnknownHealthReason
	switch s.Node.Health {
	case "OK":
		status, reason = metav1.ConditionTrue, metal3.HealthyReason
	case "Warning":
		status, reason = metav1.ConditionFalse, metal3.WarningHealthReason
	case "Critical":
		status, reason = metav1.ConditionFalse, metal3.CriticalHealthReason
	}
	reconcile.SetCondition(h, metal3.HealthyCondition, status, reason, "")
}

// setStalled is True while the host shows an error. Its transition time is when
// the error was recorded: the back-off counts from it.
func setStalled(h *metal3.BareMetalHost, s Findings) {
	if h.Status.ErrorType == "" {
		reconcile.SetCondition(h, view.StalledCondition, metav1.ConditionFalse, reasonNotFailing, "")
		return
	}
	was := meta.FindStatusCondition(h.Status.Conditions, view.StalledCondition)
	reason, since := s.Cause, s.Now
	switch {
	case s.Cause != "":
		reconcile.DropCondition(h, view.StalledCondition)
	case was != nil && was.Status == metav1.ConditionTrue:
		reason, since = was.Reason, was.LastTransitionTime.Time
	default: // an error that another controller, or an older version, recorded
		reason = errorKinds[h.Status.ErrorType].Reason
	}
	conditions := h.GetConditions()
	meta.SetStatusCondition(&conditions, metav1.Condition{
		Type: view.StalledCondition, Status: metav1.ConditionTrue, Reason: orType(reason),
		Message: stalledText(h, reason, since), ObservedGeneration: h.Generation,
		LastTransitionTime: metav1.NewTime(since).Rfc3339Copy(),
	})
	h.SetConditions(conditions)
}

func orType(reason string) string {
	if reason == "" {
		return view.StalledCondition
	}
	return reason
}

// stalledText says what is wrong, when it is tried again and what a person can do.
func stalledText(h *metal3.BareMetalHost, cause string, since time.Time) string {
	next, advice := "it is tried again at "+since.Add(backOff(h, h.Status.ErrorCount)).UTC().Format(time.RFC3339), view.AdviceFor(cause)
	switch {
	case reconcile.KeptOff(h) != "":
		next = "it is not tried again while the host is on hold"
	case isDetached(h):
		next = "it is not tried again while the host is detached"
	case cause == causeGivenUp:
		next = "it is not tried again by itself"
	case advice.Ends:
		next = "it goes on by itself when that is fixed"
	}
	return reconcile.Cut(fmt.Sprintf("%s (attempt %d; %s). Next: %s", h.Status.ErrorMessage, h.Status.ErrorCount, next, advice.Do), 32768)
}
