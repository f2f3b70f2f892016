package policy

import (
	"strconv"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/ironflow/ironflow/api/names"
)

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
