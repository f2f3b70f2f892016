package host

import (
	"slices"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/ironic"
)

// slots gives out the slots.
type slots struct {
	queue *capacity.Queue
}

// working are the phases in which hosts take slots.
var working = []policy.State{
	metal3.StateInspecting, metal3.StatePreparing, metal3.StateProvisioning, metal3.StateDeprovisioning,
}

// observe reads how a host stands.
func (s *slots) observe(o *policy.Observed) {
	o.Slot.Needed = s.queue.Limited(policy.Place(o))
	o.Slot.Granted = o.Slot.Needed && s.queue.Holds(client.ObjectKeyFromObject(o.Host))
}

// takeSlot asks for a slot.
func (p *pass) takeSlot() {
	o := &p.o
	o.Slot.Asked = true
	o.Slot.Verdict = p.slots.queue.Ask(client.ObjectKeyFromObject(o.Host), policy.Place(o))
	o.Slot.Granted = o.Slot.Verdict.Granted
}

// countWorking gives slots to the hosts of an Ironic that have been at work since
// before this process began, now that its nodes are known.
func (r *Reconciler) countWorking(name string, hosts []metal3.BareMetalHost) {
	for i := range hosts {
		h := &hosts[i]
		e, assigned := r.ironicOf(h)
		if assigned.Name != name || !atWork(e, h) {
			continue
		}
		o := &policy.Observed{Host: h, Ironic: assigned}
		o.BMC.Access, _ = nodespec.AccessOf(h) // an address that cannot be read counts as network boot
		r.slots.queue.Hold(client.ObjectKeyFromObject(h), policy.Place(o))
		if !atWork(e, h) {
			r.slots.queue.Leave(client.ObjectKeyFromObject(h)) // it has ended meanwhile, and was told of that
		}
	}
	r.slots.queue.Open(name)
}

// atWork reports whether the watch shows a host at work.
func atWork(e endpoint, h *metal3.BareMetalHost) bool {
	row, known := e.watch.Row(h.Status.Provisioning.ID)
	return known && row.ProvisionState.Busy() && counts(h.Status.Provisioning.State, row.ProvisionState)
}

// counts reports whether a host in a phase counts as at work while its node is busy.
// One that is serviced does, and waits for no slot: it is in use, and off until then.
func counts(state policy.State, node ironic.ProvisionState) bool {
	return slices.Contains(working, state) || node == ironic.StateServicing || node == ironic.StateServiceWait
}

// busy reports whether the watch shows a host's node at work.
func busy(e endpoint, h *metal3.BareMetalHost) bool {
	row, known := e.watch.Row(h.Status.Provisioning.ID)
	return known && row.ProvisionState.Busy()
}

// leavePaused ends the wait of a host that is not looked at, and its work once its
// node is not busy any more: the change of that brings it here.
func (r *Reconciler) leavePaused(h *metal3.BareMetalHost) {
	key := client.ObjectKeyFromObject(h)
	if e, _ := r.ironicOf(h); !r.slots.queue.Holds(key) || !busy(e, h) {
		r.slots.queue.Leave(key)
	}
}

// settleSlot ends a host's work, or its wait, when the pass has shown so.
func (p *pass) settleSlot(key types.NamespacedName) {
	o, q := &p.o, p.slots.queue
	if !o.Slot.Needed {
		q.Leave(key) // its label or address may have changed
		return
	}
	busy := o.Node != nil && o.Node.ProvisionState.Busy()
	mayWork := slices.Contains(working, o.State()) || busy && counts(o.State(), o.Node.ProvisionState)
	atWork := busy || !o.Busy.Since.IsZero() || p.down != ""
	switch {
	case p.gone || o.Failing() || !mayWork:
		q.Leave(key)
	case o.Slot.Granted && !atWork:
		q.Leave(key)
	case !o.Slot.Granted && busy:
		q.Hold(key, policy.Place(o))
	case !o.Slot.Granted && !o.Slot.Asked:
		q.Leave(key) // does not want any more
	}
}
