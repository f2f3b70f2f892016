package host

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/memory"
)

// Rehearsal runs passes whose writes somebody holds back: its client and gateway
// make none, and tell what the controller wanted to write. Where they stand for a
// whole world instead, it runs the controller in that world, pass by pass.
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
	_, err := r.Next(ctx, key)
	return err
}

// Next runs the host's next pass, and says when the one after it is due.
func (r *Rehearsal) Next(ctx context.Context, key client.ObjectKey) (ctrl.Result, error) {
	return r.reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
}

// Memory is what the controller remembers of a host between passes.
func (r *Rehearsal) Memory(key types.NamespacedName) memory.Memory {
	return r.reconciler.memories.Get(key)
}

// Remember has the next pass begin with this memory, and no other.
func (r *Rehearsal) Remember(key types.NamespacedName, m memory.Memory) {
	r.reconciler.memories.Load(key, m)
}

// Line is who works and who waits where the number of hosts at work is limited.
func (r *Rehearsal) Line() capacity.Line { return r.reconciler.schedule.Slots.Queue.Line() }

// Stand has the next pass begin with this line. wake is told of hosts that are let in.
func (r *Rehearsal) Stand(l capacity.Line, wake func(types.NamespacedName)) {
	r.reconciler.schedule.Slots.Queue.Load(l)
	r.reconciler.schedule.Slots.Queue.OnGrant(wake)
}

// Resume gives hosts what they had before the process began, as the controller does once
// it knows the nodes: a slot to those at work, their places in line to those that wait.
func (r *Rehearsal) Resume(hosts []metal3.BareMetalHost) {
	for name := range r.reconciler.ironics.Watches() {
		r.reconciler.schedule.Slots.Resume(name, hosts)
	}
}
