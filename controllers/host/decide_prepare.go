package host

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

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
		d.wait(lookAgain, cleaningNote(o))
	case ironic.StateCleanFailed:
		afterFailure(o, d, metal3.PreparationError, func() { leaveCleanFailed(o, d) })
	default:
		unexpected(o, d)
	}
}

// prepare carries out the plan of an idle node.
func prepare(o *Observed, d *Decision) {
	switch p := planOf(o); p.is {
	case toLook:
		d.do(p.look)
	case toRecord:
		d.Status.Provisioning.RAID = p.raid.DeepCopy()
		d.Again = true
	case hopeless:
		fail(o, d, metal3.PreparationError, "", p.problem)
	case toDo:
		switch {
		case o.Node.ProvisionState == ironic.StateAvailable:
			d.do(Transition{ironic.Transition{Target: ironic.TargetManage}})
		case len(p.work.disks) > 0 && !ironic.SameRAIDTarget(o.Node.TargetRAIDConfig, p.work.disks):
			d.do(SetRAID{p.work.disks})
		default:
			d.do(Transition{ironic.Transition{Target: ironic.TargetClean, CleanSteps: p.work.steps}})
			d.event("PreparingStarted", "Preparing started: "+stepNames(p.work.steps))
		}
	case allDone:
		d.Status.Provisioning.RootDeviceHints = rootHints(o.Host)
		d.Status.Provisioning.RAID = o.Host.Spec.RAID.DeepCopy()
		if failedDeployments(o.Host, &d.Status) == 0 {
			complete(d) // else it is part of another attempt at a deployment
		}
		enter(o, d, metal3.StateAvailable)
	}
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
		d.do(Maintenance{On: false})
		return
	}
	d.do(Transition{ironic.Transition{Target: ironic.TargetManage}})
}

// cleaningNote says which cleaning step runs.
func cleaningNote(o *Observed) view.Note {
	note := view.Note{Step: "cleaning"}
	if s := o.Node.CleanStep; !s.IsZero() {
		note.Text = s.Name
	}
	return withProgress(note, o.Progress)
}
