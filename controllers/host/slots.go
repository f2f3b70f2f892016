package host

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/capacity"
)

// slots gives out the slots.
type slots struct {
	queue *capacity.Queue
	once  sync.Mutex // held while the hosts at work are counted
	ready bool
}

// working are the phases in which hosts take slots.
var working = []State{
	metal3.StateInspecting, metal3.StatePreparing, metal3.StateProvisioning, metal3.StateDeprovisioning,
}

// observe reads how a host stands.
func (s *slots) observe(o *Observed) {
	o.Slot.Needed = s.queue.Limited(place(o))
	o.Slot.Granted = o.Slot.Needed && s.queue.Holds(client.ObjectKeyFromObject(o.Host))
}

// takeSlot asks for a slot, once the hosts that are at work since before this
// process began have been counted.
func (p *pass) takeSlot(ctx context.Context) error {
	o := &p.o
	counted, err := p.countWorking(ctx)
	if err != nil {
		return err
	}
	o.Slot.Asked = true
	if counted {
		o.Slot.Verdict = p.slots.queue.Ask(client.ObjectKeyFromObject(o.Host), place(o))
		o.Slot.Granted = o.Slot.Verdict.Granted
	}
	return nil
}

// countWorking gives slots to all hosts whose nodes are busy; false when the watch
// does not know all nodes yet.
func (p *pass) countWorking(ctx context.Context) (bool, error) {
	s := p.slots
	s.once.Lock()
	defer s.once.Unlock()
	if s.ready {
		return true, nil
	}
	var hosts metal3.BareMetalHostList
	if err := p.client.List(ctx, &hosts); err != nil {
		return false, fmt.Errorf("count the hosts at work: %w", err)
	}
	for i := range hosts.Items {
		h := &hosts.Items[i]
		e, assigned := p.ironicOf(h)
		if _, _, complete := e.watch.Named(""); !complete {
			return false, nil
		}
		row, known := e.watch.Row(h.Status.Provisioning.ID)
		if !known || !row.ProvisionState.Busy() || !slices.Contains(working, h.Status.Provisioning.State) {
			continue
		}
		o := &Observed{Host: h, Ironic: assigned}
		o.BMC.Access, _ = accessOf(h) // an address that cannot be read counts as network boot
		s.queue.Hold(client.ObjectKeyFromObject(h), place(o))
	}
	s.ready = true
	return true, nil
}

// settleSlot ends a host's work, or its wait, when the pass has shown so.
func (p *pass) settleSlot(key types.NamespacedName) {
	o, q := &p.o, p.slots.queue
	if !o.Slot.Needed {
		if q.Holds(key) {
			q.Leave(key) // its label or address has changed
		}
		return
	}
	busy := o.Node != nil && o.Node.ProvisionState.Busy()
	atWork := busy || !o.Busy.Since.IsZero() || p.down != ""
	switch {
	case p.gone || o.failing() || !slices.Contains(working, o.state()):
		q.Leave(key)
	case o.Slot.Granted && !atWork:
		q.Leave(key)
	case !o.Slot.Granted && busy:
		q.Hold(key, place(o))
	case !o.Slot.Granted && !o.Slot.Asked:
		q.Leave(key) // does not want any more
	}
}
