package policy

import (
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

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
