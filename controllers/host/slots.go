package host

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// Slot is how a host stands with the limits on hosts at work.
type Slot struct {
	// Needed means that a limit concerns the host.
	Needed bool
	// Granted means that it counts as at work.
	Granted bool
	// Asked means that it stands in line, and Verdict tells how.
	Asked bool
	// Verdict is the answer.
	Verdict capacity.Verdict
}

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

// waitSlot bounds the wait for a slot; its turn wakes a host.
const waitSlot = lookAgain

// takesSlot reports whether an action makes a machine boot the live image or work
// for long. Ending what is under way takes none: it has one.
func takesSlot(o *Observed, a Action) bool {
	t, is := a.(Transition)
	if !is {
		return false
	}
	switch t.Target {
	case ironic.TargetInspect, ironic.TargetClean, ironic.TargetProvide, ironic.TargetActive:
		return true
	case ironic.TargetDeleted:
		return !o.Node.ProvisionState.Busy()
	default:
		return false
	}
}

// withinCapacity replaces a decision that needs a slot which the host does not
// have: it asks for one, or waits.
func withinCapacity(o *Observed, d *Decision) *Decision {
	if !o.Slot.Needed || o.Slot.Granted || !takesSlot(o, d.Do) {
		if d.Status.OperationalStatus == metal3.OperationalStatusDelayed {
			d.Status.OperationalStatus = metal3.OperationalStatusOK
		}
		return d
	}
	d = decideWith(o)
	if !o.Slot.Asked {
		d.do(TakeSlot{})
		return d
	}
	if d.Status.OperationalStatus != metal3.OperationalStatusDelayed {
		d.Status.OperationalStatus = metal3.OperationalStatusDelayed
		d.count(count{Metric: delayMetric(o.state())})
	}
	d.wait(waitSlot, slotNote(o.Slot.Verdict))
	return d
}

// slotNote says which limit holds a host up. How many are ahead is as of now; it is
// not kept up to date while nothing else changes, which would cost a write each.
func slotNote(v capacity.Verdict) view.Note {
	if v.Of == 0 {
		return view.Note{Step: "waiting for capacity", WaitingFor: "the hosts at work to be counted after the start"}
	}
	note := view.Note{
		Step:       "waiting for capacity",
		Text:       fmt.Sprintf("limit of %s is %d", v.Limit, v.Of),
		WaitingFor: "a host at work to be done",
	}
	if v.Ahead > 0 {
		note.WaitingFor = fmt.Sprintf("hosts at work to be done; %d came first", v.Ahead)
	}
	return note
}

func delayMetric(s State) string {
	if s == metal3.StateDeprovisioning {
		return metricDelayDeprov
	}
	return metricDelayProvision
}

// place is what of a host counts for the limits.
func place(o *Observed) capacity.Place {
	return capacity.Place{
		Network: !o.BMC.Access.TakesISO, Ironic: o.Ironic.Name, Domain: o.Host.Labels[names.FailureDomain],
	}
}

// observeSlot reads how a host stands.
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
