package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// stepPreparing applies what must be set before a host can be used: RAID, BIOS
// settings, firmware, by manual cleaning. Hosts without wishes pass through.
func stepPreparing(o *Observed, d *Decision) {
	switch o.Node.ProvisionState {
	case ironic.StateManageable, ironic.StateAvailable:
		prepare(o, d)
	case ironic.StateCleaning, ironic.StateCleanWait:
		if !takenUnheard(o, d) {
			d.wait(lookAgain, cleaningNote(o))
		}
	case ironic.StateCleanFailed:
		afterFailure(o, d, metal3.PreparationError, func() { leaveCleanFailed(o, d) })
	default:
		unexpected(o, d)
	}
}

// prepare carries out the plan of an idle node.
func prepare(o *Observed, d *Decision) {
	n, ok := o.knownNode(d)
	if !ok {
		return
	}
	switch p := o.plan(n); p.Is {
	case plan.ToLook:
		d.do(readFirmware(n, p.Look))
	case plan.ToRecord:
		d.Status.Provisioning.RAID = p.RAID.DeepCopy()
		d.Again = true
	case plan.Hopeless:
		fail(o, d, metal3.PreparationError, "", p.Problem)
	case plan.ToDo:
		switch {
		case !fits(o, d, metal3.PreparationError):
		case o.Node.ProvisionState == ironic.StateAvailable:
			manage(o, d)
		case len(p.Work.Disks) > 0 && !ironic.SameRAIDTarget(n.TargetRAIDConfig, p.Work.Disks):
			if read, ok := o.readNode(d); ok {
				d.do(read.SetRAID(p.Work.Disks))
			}
		default:
			carryOutOrder(o, d, ironic.Transition{Target: ironic.TargetClean, CleanSteps: p.Work.Steps})
			d.event("PreparingStarted", "Preparing started: "+stepNames(p.Work.Steps))
		}
	case plan.AllDone:
		if look := o.Firmware.Unread(o.Host); look != nil { // whoever waits for the host to be available finds it told
			d.do(readFirmware(n, *look))
			return
		}
		d.Status.Provisioning.RootDeviceHints = nodespec.RootHints(o.Host)
		d.Status.Provisioning.RAID = o.Host.Spec.RAID.DeepCopy()
		if failedDeployments(o.Host, &d.Status) == 0 {
			complete(d) // else it is part of another attempt at a deployment
		}
		enter(o, d, metal3.StateAvailable)
	}
}

// plan is what is left to be done on the machine in the host's phase.
func (o *Observed) plan(n nodeaction.Known) plan.Plan { return plan.Of(o.planInput(n)) }

func (o *Observed) planInput(n nodeaction.Known) plan.Input {
	return plan.Input{
		Host: o.Host, Node: n.Node(), RAIDInterface: o.BMC.Access.Interfaces.RAID, Firmware: o.Firmware,
		Turn: (!o.Slot.Needed || o.Slot.Granted) && o.Preflight.fit(), Unasked: o.Unasked, Anew: o.Failing() && RetryPending(o.Host),
	}
}

// carryOutOrder asks Ironic for the work that is recorded on the node. That it has taken it is
// recorded on the host: the node may move for other reasons.
func carryOutOrder(o *Observed, d *Decision, t ironic.Transition) {
	n, ok := o.readNode(d)
	if !ok {
		return
	}
	if order := plan.OrderOf(n.Node()); order != nil {
		order.Take(&d.Status, o.Host.Generation, o.Now)
	}
	d.do(n.Transition(t))
}

// takenUnheard records that Ironic has taken an order that it is seen to carry out, as when its answer
// or what was known of that was lost, and reports whether it does.
func takenUnheard(o *Observed, d *Decision) bool {
	if o.Heard {
		return false
	}
	n, ok := o.knownNode(d)
	if !ok {
		return true
	}
	cleaning := o.Node.ProvisionState == ironic.StateCleaning || o.Node.ProvisionState == ironic.StateCleanWait
	order := plan.OrderOf(n.Node())
	switch {
	case order == nil || order.Failed || order.Taken(&o.Host.Status): // that the node has moved its state shows: Ironic's times may be whole seconds
	case order.Service == cleaning || order.Since.Equal(o.Unasked): // somebody else's
	case cleaning && o.Node.TargetProvisionState == ironic.StateAvailable: // automated
	default:
		order.Take(&d.Status, o.Host.Generation, o.Now)
		d.Again = true
		return true
	}
	return false
}

// heard reports whether the status records that Ironic has taken the order that it carries out.
func (o *Observed) heard() bool {
	switch {
	case o.Node == nil || !o.Node.ProvisionState.Busy():
		return false
	case o.Heard:
		return true
	}
	n, known := o.InFull()
	return known && plan.OrderOf(n.Node()).Taken(&o.Host.Status)
}

// readFirmware is the action that takes over what a plan is missing.
func readFirmware(n nodeaction.Known, l plan.Reading) Action {
	if l.Components {
		return n.ReadComponents(l.Done)
	}
	return n.ReadSettings()
}

// stepNames joins the names of steps for a reader.
func stepNames(steps []ironic.Step) string {
	text := ""
	for _, s := range steps {
		if text != "" {
			text += ", "
		}
		text += s.String()
	}
	return text
}

// leaveCleanFailed takes the node out of the maintenance that Ironic put it in
// when cleaning failed, and back to manageable.
func leaveCleanFailed(o *Observed, d *Decision) {
	if o.Node.Maintenance {
		endMaintenance(o, d)
		return
	}
	manage(o, d)
}

// cleaningNote says which cleaning step runs.
func cleaningNote(o *Observed) view.Note {
	note := view.Note{Step: "cleaning"}
	if s := runningStep(o); !s.IsZero() {
		note.Text = s.Name
	}
	return withProgress(note, told(o))
}
