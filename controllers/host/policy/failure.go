package policy

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// Causes of errors that are told apart from the error type's own, as reasons of
// the Stalled condition.
const (
	causeCredentials  = "BMCCredentialError" //nolint:gosec // a name, no secret
	causeUnknownState = "UnknownState"
	causeRejected     = "RejectedByIronic"
	causeGivenUp      = "RetryLimitReached"
	causeImage        = "LiveImageError"
	causeVerifying    = "VerificationStuck"
	causePreflight    = "PreflightFailed"
	causeSpec         = "InvalidSpec"
)

// errorKind is how an error type is told: one row each.
type errorKind struct {
	// Reason is the event's reason and the Stalled condition's.
	Reason string
	// From says which operations end in it.
	From string
	// Next says what is done at the next attempt.
	Next string
}

// errorKinds holds every error type that is written. "detach error" is missing on
// purpose: the schema of the API refuses it, so a failed detach is a condition
// and an event only.
var errorKinds = map[metal3.ErrorType]errorKind{
	metal3.RegistrationError:            {"RegistrationError", "address, BMC credentials, enrolment, live image", "the BMC is verified again"},
	metal3.ProvisionedRegistrationError: {"ProvisionedRegistrationError", "adoption of a provisioned host", "adopted again"},
	metal3.InspectionError:              {"InspectionError", "inspection", "inspected again"},
	metal3.PreparationError:             {"PreparationError", "RAID, firmware settings and updates", "all steps again"},
	metal3.ProvisioningError:            {"ProvisioningError", "deployment, deprovisioning, cleaning before a deployment", "deprovisioned, cleaned and deployed again"},
	metal3.PowerManagementError:         {"PowerManagementError", "power on and off", "hard power action"},
	metal3.ServicingError:               {"ServicingError", "servicing", "serviced again, or given up when nothing is asked for any more"},
}

// fail records an error: state kept, count raised, one event.
func fail(o *Observed, d *Decision, kind metal3.ErrorType, cause, message string) {
	message = strings.TrimSpace(message)
	count, conditions := d.Status.ErrorCount, d.Status.Conditions
	*d = *decideWith(o)
	d.Status.Conditions = conditions
	if kind == metal3.ProvisioningError && o.State() == metal3.StateProvisioning {
		countFailedDeployment(o, d)
	}
	d.Status.OperationalStatus = metal3.OperationalStatusError
	d.Status.ErrorType = kind
	d.Status.ErrorMessage = message
	d.Status.ErrorCount = count + 1
	row := errorKinds[kind]
	if cause == "" {
		cause = row.Reason
	}
	d.Cause = cause
	d.warn(row.Reason, message)
	d.count(CountError(kind))
	d.waitNextAttempt(backOff(o.Host, d.Status.ErrorCount))
}

// Rejected is the decision after Ironic has refused an action: the phase's error, or a
// failed detach.
func Rejected(o *Observed, action Action, text string) *Decision {
	d := decideWith(o)
	text = "Ironic refuses to " + action.Name() + ": " + text
	if Detaching(o) {
		failDetach(o, d, text)
		return d
	}
	kind := o.phase().fails
	if _, ok := action.(nodeaction.Power); ok {
		kind = metal3.PowerManagementError
	}
	if kind == "" {
		kind = metal3.RegistrationError
	}
	fail(o, d, kind, causeRejected, text)
	return d
}

// clearError says that the operation runs again. The count stays until it is done.
func clearError(d *Decision) {
	d.Status.ErrorType = ""
	d.Status.ErrorMessage = ""
	d.Cause = ""
	if d.Status.OperationalStatus == metal3.OperationalStatusError {
		d.Status.OperationalStatus = metal3.OperationalStatusOK
	}
}

// maxBackOffExponent bounds the back-off at 512 minutes.
const maxBackOffExponent = 9

// backOff is how long after the n-th failure in a row the next attempt is made:
// 2^min(n,9) minutes less up to half, by a share that is fixed for a host and a
// count, so that a restart of the program does not move it.
func backOff(h *metal3.BareMetalHost, n int) time.Duration {
	full := time.Duration(math.Exp2(float64(min(n, maxBackOffExponent)))) * time.Minute
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s/%s/%s/%d", h.Namespace, h.Name, h.UID, n)
	share := float64(sum.Sum32()) / math.MaxUint32 / 2
	return full - time.Duration(float64(full)*share)
}

// waitNextAttempt ends the pass after a failure.
func (d *Decision) waitNextAttempt(after time.Duration) {
	if d.Cause == causeGivenUp {
		after = 0
	}
	d.wait(after, view.Note{Step: "after a failure", WaitingFor: "the next attempt"})
}

// failedAt is when the present error was recorded; now if that is not known.
func failedAt(o *Observed) time.Time {
	c := meta.FindStatusCondition(o.Host.Status.Conditions, view.StalledCondition)
	if c == nil || c.Status != metav1.ConditionTrue {
		return o.Now
	}
	return c.LastTransitionTime.Time
}

// nextAttempt is when the present error is tried again by itself.
func nextAttempt(o *Observed) time.Time {
	return failedAt(o).Add(backOff(o.Host, o.Host.Status.ErrorCount))
}

// mayTryNow reports whether an attempt is asked for before it is due.
func (o *Observed) mayTryNow() bool {
	if o.Retry || o.Deleting() && !changedSinceDeletion(o) {
		return true
	}
	// What was the problem is none any more.
	return stalledBy(o, causeBaseline) || // who looks again, and does nothing else
		o.BMC.Problem == "" && stalledBy(o, causeCredentials) ||
		o.Image.Error == "" && stalledBy(o, causeImage) ||
		stalledBy(o, causeUnproven) || // likewise
		o.Double == Double{} && stalledBy(o, causeDouble) ||
		stalledBy(o, causeUndeployed) || // likewise
		stalledBy(o, causeOther) || stalledBy(o, causeMoved) || // likewise
		stalledBy(o, causeVerifying) && !o.Overdue() ||
		o.Host.Annotations[names.Status] == "" && stalledBy(o, causeRestore) ||
		o.Preflight.Judged && o.Preflight.Mismatch == "" && stalledBy(o, causePreflight) ||
		o.Host.Status.ErrorType == metal3.PowerManagementError && powerMoved(o)
}

// changedSinceDeletion reports whether the present error came after the wish to
// delete the host: then the attempt that the wish deserves has been made.
func changedSinceDeletion(o *Observed) bool {
	return failedAt(o).After(o.Host.DeletionTimestamp.Time)
}

// stalledBy reports whether the present error has this cause.
func stalledBy(o *Observed, cause string) bool {
	c := meta.FindStatusCondition(o.Host.Status.Conditions, view.StalledCondition)
	return o.Failing() && c != nil && c.Reason == cause
}

// afterFailure decides on a node in a failure state. A failure that is new is
// recorded with Ironic's reason, or tried again at once when a restart of
// Ironic's conductor cut the operation off. One that is known is tried again: the
// back-off has been waited for, or somebody asked.
func afterFailure(o *Observed, d *Decision, kind metal3.ErrorType, again func()) {
	if o.Failing() {
		again()
		return
	}
	reason, known := ironicReason(o, d)
	if !known {
		return
	}
	if cutOff(reason) && o.Host.Status.ErrorCount == 0 {
		if again(); attempts(d.Do) {
			d.Status.ErrorCount++ // only one in a row: what is tried may be what ends Ironic
		}
		d.warn("IronicRestarted", "Ironic cut the operation off, it is started again: "+reason)
		d.count(Count{Metric: MetricRetries, Labels: []string{"ironic restarted"}})
		return
	}
	fail(o, d, kind, "", reason+bootHint(o, reason))
}

// cutOff reports whether an operation ended for reasons outside the machine.
func cutOff(reason string) bool {
	return ironic.FailedByRestart(reason) || strings.Contains(reason, "aborted by request")
}

// cutLength is where Ironic cuts last_error.
const cutLength = 4000

// historySlack is how long before the failure state an entry of the history may
// have been written. Both times are Ironic's.
const historySlack = time.Minute

// ironicReason is the text of a node's failure. When last_error does not hold all
// of it, the node's history is asked for first.
func ironicReason(o *Observed, d *Decision) (reason string, known bool) {
	short := o.Node.LastError
	if short != "" && len(short) < cutLength {
		return short, true
	}
	if o.Failure == nil {
		readFailure(o, d)
		return "", false
	}
	for _, text := range []string{*o.Failure, short} {
		if text != "" {
			return text, true
		}
	}
	if o.Node.Reservation != "" { // Ironic sets the state first, and the reason when it has cleaned up
		d.wait(WaitBusy, view.Note{Step: "reading why it failed", WaitingFor: "Ironic to end its handling of the failure"})
		return "", false
	}
	return "Ironic gives no reason for state " + strconv.Quote(string(o.Node.ProvisionState)) + cutShort(o), true
}

// readFailure asks for the newest error of the node's present state.
func readFailure(o *Observed, d *Decision) {
	if n, ok := o.knownNode(d); ok {
		d.do(n.ReadFailure(n.ProvisionUpdatedAt.Add(-historySlack)))
	}
}

// cutShort is what the hub's last word on an installation tells of a deployment whose reason is lost: Ironic
// clears the reason of a failed deploy step when it switches the machine off, and without a history it is gone.
func cutShort(o *Observed) string {
	if o.Node.ProvisionState != ironic.StateDeployFailed || o.Progress.Stage == "" || o.Progress.Reading || hubFailed(o) {
		return ""
	}
	return fmt.Sprintf(" (it forgets it when it switches the machine off, unless its setting [conductor]node_history is true). "+
		"The agent had come to %q and did not end: the machine was restarted during the installation, or the agent was killed; see the machine's console", o.Progress.Stage)
}

// unexpected shows a node in a state that this phase cannot leave by itself.
func unexpected(o *Observed, d *Decision) {
	state := string(o.Node.ProvisionState)
	if o.Node.ProvisionState.Busy() {
		d.wait(lookAgain, view.Note{Step: "waiting while the node is " + state})
		return
	}
	d.wait(lookAgain, view.Note{
		Step: "node in state " + state, Text: o.Node.LastError,
		WaitingFor: "somebody to bring the node to manageable or available in Ironic",
	})
}
