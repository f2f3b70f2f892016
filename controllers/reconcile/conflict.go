package reconcile

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
)

// conflictDelay lets the watch deliver the newer copy first.
const conflictDelay = 50 * time.Millisecond

// IsConflict reports whether the API server refused a write because the copy it
// was made from is stale.
func IsConflict(err error) bool { return apierrors.IsConflict(err) }

// RetryConflict is what a pass returns that ended in a conflict.
func RetryConflict() ctrl.Result { return ctrl.Result{RequeueAfter: conflictDelay} }
