package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// detachReason is what a node says while its host is being detached.
const detachReason = "detached by Ironflow"

// concernDetached leaves a detached host alone until the annotation goes.
func concernDetached(o *Observed, d *Decision) {
	switch {
	case FailedDetaches(o.Host) > 0 && !Detaching(o):
		meta.RemoveStatusCondition(&d.Status.Conditions, detachCondition)
		d.Again = true
	case o.Deleting() || !isDetached(o.Host):
	case WantsDetach(o.Host):
		d.wait(0, view.Note{Step: "detached", WaitingFor: "somebody to remove the annotation " + names.Detached})
	default:
		attach(o, d)
	}
}

// concernDetach removes a host that rests from Ironic, without touching the machine.
func concernDetach(o *Observed, d *Decision) {
	switch {
	case Detaching(o):
		detach(o, d)
	case detachedBefore(o) && o.Node == nil && !o.Missing:
		d.do(LookUp{})
	case detachedBefore(o) && o.Missing:
		d.Status.OperationalStatus = metal3.OperationalStatusDetached
		d.event("Detached", "the host has no status and no node, and its annotation says that it is detached: it is not enrolled")
		d.Again = true
	case detachedBefore(o) && !slices.Contains(inUse, o.Node.ProvisionState):
		// A node that tells of no instance, such as one of an enrolment that was under way,
		// says nothing of what the machine runs.
		removeNode(o, d, detachReason)
	}
}

// detachedBefore reports a host that knows of no node and carries the annotation: its
// status may have been lost after it was detached, and its machine run what was deployed.
func detachedBefore(o *Observed) bool {
	fresh := o.State() == StateNone || o.State() == metal3.StateRegistering && o.Host.Status.Provisioning.ID == ""
	return fresh && o.Host.HasBMCDetails() && WantsDetach(o.Host) && !isDetached(o.Host) && !o.Deleting()
}

// Detaching reports whether all that is done with the node is to let go of it.
func Detaching(o *Observed) bool {
	return WantsDetach(o.Host) && !isDetached(o.Host) && !o.Deleting() &&
		(o.phase().steady || detachArguments(o.Host).Force && o.phase().node)
}

// attach has Ironic manage the host again. What was under way when it was
// detached by force is decided anew.
func attach(o *Observed, d *Decision) {
	d.Status.OperationalStatus = metal3.OperationalStatusOK
	if o.Failing() {
		d.Status.OperationalStatus = metal3.OperationalStatusError
	}
	if RecordedMachine(&o.Host.Status) == "" { // as by another controller, or an earlier version: it may have another machine now
		doubtMachine(o, d)
	}
	d.event("Attached", "the host is managed by Ironic again")
	d.Again = true
}

// detach takes the node out of Ironic.
func detach(o *Observed, d *Decision) {
	if due := nextDetach(o); o.Now.Before(due) && !o.Retry {
		d.wait(due.Sub(o.Now), view.Note{Step: "detaching after a failure", WaitingFor: "the next attempt"})
		return
	}
	switch {
	case o.Missing:
		d.Status.OperationalStatus = metal3.OperationalStatusDetached
		d.event("Detached", "the host is no longer managed by Ironic; the machine was not touched")
		d.Again = true
	case o.Node == nil:
		d.do(LookUp{})
	default:
		if detachArguments(o.Host).Force && abandon(o, d) {
			return
		}
		removeNode(o, d, detachReason)
	}
}

// WantsDetach reports whether the annotation asks to detach the host.
func WantsDetach(h *metal3.BareMetalHost) bool {
	_, asked := h.Annotations[names.Detached]
	return asked
}

// isDetached reports whether the status says that the host is detached.
func isDetached(h *metal3.BareMetalHost) bool {
	return h.Status.OperationalStatus == metal3.OperationalStatusDetached
}

// detachArguments reads the annotation's value; anything that is not JSON is a
// plain request.
func detachArguments(h *metal3.BareMetalHost) metal3.DetachedAnnotationArguments {
	var args metal3.DetachedAnnotationArguments
	if json.Unmarshal([]byte(h.Annotations[names.Detached]), &args) != nil {
		return metal3.DetachedAnnotationArguments{}
	}
	return args
}

// detachCondition is on hosts that Ironic refuses to let go of. The schema of the API
// has no error type for that, and nothing is wrong with the host itself. Its message
// begins with how often it was tried; its transition time is when that was done last.
const detachCondition = "DetachFailed"

// reasonDetach is the condition's one reason, and the event's.
const reasonDetach = "DetachError"

// detachAttempt begins the condition's message.
const detachAttempt = "attempt %d: "

// FailedDetaches is how often in a row a host could not be detached.
func FailedDetaches(h *metal3.BareMetalHost) int {
	c := meta.FindStatusCondition(h.Status.Conditions, detachCondition)
	if c == nil {
		return 0
	}
	n := 0
	if _, err := fmt.Sscanf(c.Message, detachAttempt, &n); err != nil {
		return 1
	}
	return n
}

// Failed reports whether a host shows an error, or could not be detached.
func Failed(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" || FailedDetaches(h) > 0 }

// nextDetach is when a host that could not be detached is tried again by itself; zero
// for one that was not tried.
func nextDetach(o *Observed) time.Time {
	c := meta.FindStatusCondition(o.Host.Status.Conditions, detachCondition)
	if c == nil {
		return time.Time{}
	}
	return c.LastTransitionTime.Add(backOff(o.Host, FailedDetaches(o.Host)))
}

// failDetach records that a host could not be detached.
func failDetach(o *Observed, d *Decision, text string) {
	n := FailedDetaches(o.Host) + 1
	after := backOff(o.Host, n)
	meta.RemoveStatusCondition(&d.Status.Conditions, detachCondition) // for the transition time
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: detachCondition, Status: metav1.ConditionTrue, Reason: reasonDetach, ObservedGeneration: o.Host.Generation,
		LastTransitionTime: metav1.NewTime(o.Now).Rfc3339Copy(),
		Message: reconcile.Cut(fmt.Sprintf(detachAttempt+"%s; it is tried again at %s. Next: remove what Ironic names, or the annotation %s; %s tries at once",
			n, text, o.Now.Add(after).UTC().Format(time.RFC3339), names.Detached, names.Retry), 32768),
	})
	d.warn(reasonDetach, text)
	d.count(CountError(metal3.DetachError))
	d.wait(after, view.Note{Step: "detaching after a failure", WaitingFor: "the next attempt"})
}
