package host

import (
	"context"
	"maps"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// States lists every provisioning state that this controller knows, sorted; the
// empty text is a host without one.
func States() []State { return slices.Sorted(maps.Keys(phases)) }

// Rehearse runs one pass for a host, as the controller would right after its
// start. It is for callers whose client and gateway hold every write back, and who
// want to see what would be written. Options.Watch must know no node yet; no event
// is published.
func Rehearse(ctx context.Context, c client.Client, o Options, key client.ObjectKey) error {
	r, err := newReconciler(c, c, o)
	if err != nil {
		return err
	}
	_, err = r.Reconcile(ctx, ctrl.Request{NamespacedName: key})
	return err
}
