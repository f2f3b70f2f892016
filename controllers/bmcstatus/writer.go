package bmcstatus

import (
	"context"
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Writer writes what passes of one controller change of the status of BMCs.
type Writer struct {
	Client kclient.Client
	// Live reads from the API server: the cache may not yet have what another
	// controller has written.
	Live kclient.Reader
	// Settle computes what follows from the conditions of all controllers, after those
	// of others were taken over; nil for nothing.
	Settle func(b *v1alpha1.BMC)
}

// attempts is how often others may be faster. There are four controllers, and each of
// them writes rarely.
const attempts = 5

// Save writes what differs in the status between before, the BMC as the pass has read it,
// and after. A BMC that is gone, or is another one of that name now, is no error.
func (w Writer) Save(ctx context.Context, before, after *v1alpha1.BMC) error {
	err := reconcile.SaveStatus(ctx, w.Client, before, after)
	for range attempts {
		if !reconcile.IsConflict(err) {
			break
		}
		stored := &v1alpha1.BMC{}
		if err = w.Live.Get(ctx, kclient.ObjectKeyFromObject(after), stored); err != nil {
			break
		}
		if stored.UID != before.UID {
			return nil
		}
		merged := stored.DeepCopy()
		merge(&merged.Status, &before.Status, &after.Status)
		if w.Settle != nil {
			w.Settle(merged)
		}
		err = reconcile.SaveStatus(ctx, w.Client, stored, merged)
	}
	return kclient.IgnoreNotFound(err)
}

// merge brings what has changed from before to after into another copy.
func merge(into, before, after *v1alpha1.BMCStatus) {
	change(&into.Report, before.Report, after.Report)
	change(&into.Probed, before.Probed, after.Probed)
	change(&into.Preflight, before.Preflight, after.Preflight)
	change(&into.Health, before.Health, after.Health)
	conditions := slices.Clone(into.Conditions)
	for _, c := range after.Conditions {
		if old := meta.FindStatusCondition(before.Conditions, c.Type); old == nil || *old != c {
			meta.SetStatusCondition(&conditions, c)
		}
	}
	for _, c := range before.Conditions {
		if meta.FindStatusCondition(after.Conditions, c.Type) == nil {
			meta.RemoveStatusCondition(&conditions, c.Type)
		}
	}
	into.Conditions = conditions
}

// change sets a field that has changed.
func change[T any](into *T, before, after T) {
	if !apiequality.Semantic.DeepEqual(before, after) {
		*into = after
	}
}

// Outcome tells the queue what came of a pass: when the next is due, 0 for a change, or
// what went wrong. What a person has to mend takes no wait away: the rest goes on.
func Outcome(next time.Duration, err error) (ctrl.Result, error) {
	switch {
	case err == nil:
		return ctrl.Result{RequeueAfter: next}, nil
	case reconcile.IsConflict(err):
		return reconcile.RetryConflict(), nil
	}
	result, err := reconcile.Resolve(err)
	if err == nil && result.RequeueAfter == 0 {
		result.RequeueAfter = next
	}
	return result, err
}
