package policy

import (
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
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

// waitSlot bounds the wait for a slot; its turn wakes a host.
const waitSlot = lookAgain

// takesSlot reports whether an action makes a machine boot the live image or work
// for long. Ending what is under way takes none: it has one.
func takesSlot(o *Observed, a Action) bool {
	if _, is := a.(nodeaction.SetRAID); is {
		return true // it belongs to the cleaning that follows
	}
	t, is := a.(nodeaction.Transition)
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
		d.count(Count{Metric: delayMetric(o.State())})
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
		return MetricDelayDeprov
	}
	return MetricDelayProvision
}

// Place is what of a host counts for the limits.
func Place(o *Observed) capacity.Place {
	return capacity.Place{
		Network: !o.BMC.Access.TakesISO, Ironic: o.Ironic.Name, Domain: o.Host.Labels[names.FailureDomain],
	}
}
