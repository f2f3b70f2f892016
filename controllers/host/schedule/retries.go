package schedule

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The first and the longest wait before a pass is repeated that ended in an error: the
// library's own.
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = 1000 * time.Second
)

// retries says how long to wait before a pass is repeated that ended in an error: twice
// as long after each further error of the host in a row.
type retries struct {
	workqueue.TypedRateLimiter[kreconcile.Request]
	starts *startLimiter
}

// Retries are the waits after errors, for the controller's queue.
func (s *Scheduler) Retries() workqueue.TypedRateLimiter[kreconcile.Request] {
	return retries{workqueue.NewTypedItemExponentialFailureRateLimiter[kreconcile.Request](firstRetry, longestRetry), s.starts}
}

// Forget ends the errors in a row of a host that had none. To be put in line is no
// success: it does not count.
func (r retries) Forget(request kreconcile.Request) {
	if !r.starts.waits(request.NamespacedName) {
		r.TypedRateLimiter.Forget(request)
	}
}
