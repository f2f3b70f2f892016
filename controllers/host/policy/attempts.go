package policy

import (
	"fmt"
	"strconv"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
)

// failuresCondition is on hosts whose last deployments have failed. Its message
// holds how many of the present wish have, which is what the limit is about: the
// status' own count is of failures of any kind.
const failuresCondition = "DeploymentsFailed"

// reasonInARow is the condition's one reason.
const reasonInARow = "InARow"

// failuresFormat is the condition's message.
const failuresFormat = "deployments that failed in a row: %d of wish %s"

// failedDeployments is how many deployments of the host's present wish have failed
// in a row.
func failedDeployments(h *metal3.BareMetalHost, s *metal3.BareMetalHostStatus) int {
	c := meta.FindStatusCondition(s.Conditions, failuresCondition)
	if c == nil {
		return 0
	}
	n, wish := 0, ""
	if _, err := fmt.Sscanf(c.Message, failuresFormat, &n, &wish); err != nil || wish != nodespec.Wanted(h).Digest() {
		return 0
	}
	return n
}

// countFailedDeployment counts one more.
func countFailedDeployment(o *Observed, d *Decision) {
	n := failedDeployments(o.Host, &d.Status) + 1
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: failuresCondition, Status: metav1.ConditionTrue, Reason: reasonInARow,
		Message:            fmt.Sprintf(failuresFormat, n, nodespec.Wanted(o.Host).Digest()),
		ObservedGeneration: o.Host.Generation, LastTransitionTime: metav1.NewTime(o.Now).Rfc3339Copy(),
	})
}

// forgetFailedDeployments starts the count anew: one has succeeded, nothing is
// asked for any more, or somebody asks for another attempt.
func forgetFailedDeployments(d *Decision) {
	meta.RemoveStatusCondition(&d.Status.Conditions, failuresCondition)
}

// RetryCondition is on hosts whose retry annotation has been dealt with. Its
// message is the value that was, so that neither a restart of the program nor a
// change of the leader takes it for a new request.
const RetryCondition = "RetryAcknowledged"

// ReasonRetryHandled is the condition's one reason.
const ReasonRetryHandled = "RetryHandled"

// RetryMessage is the message for a value.
func RetryMessage(value string) string {
	return "dealt with " + names.Retry + "=" + strconv.Quote(value)
}

// RetryPending reports whether a host carries a request to try again that has not
// been dealt with.
func RetryPending(h *metal3.BareMetalHost) bool {
	value, asked := h.Annotations[names.Retry]
	c := meta.FindStatusCondition(h.Status.Conditions, RetryCondition)
	return asked && (c == nil || c.Message != RetryMessage(value))
}
