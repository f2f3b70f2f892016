package host

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rehearsal runs passes whose writes somebody holds back: its client and gateway
// make none, and tell what the controller wanted to write.
type Rehearsal struct {
	reconciler *Reconciler
}

// NewRehearsal prepares for passes over any number of hosts. Options.Watch must
// know no node yet, as right after a start; no event is published.
func NewRehearsal(c client.Client, o Options) (*Rehearsal, error) {
	r, err := newReconciler(c, c, c, o)
	return &Rehearsal{r}, err
}

// Pass runs one pass for a host, as the controller would right after its start.
func (r *Rehearsal) Pass(ctx context.Context, key client.ObjectKey) error {
	_, err := r.reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
	return err
}
