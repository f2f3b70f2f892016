package host

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// stepPreparing applies what must be set before a host can be used. Hosts without
// RAID or firmware wishes pass through.
func stepPreparing(o *Observed, d *Decision) {
	switch o.Node.ProvisionState {
	case ironic.StateManageable, ironic.StateAvailable:
		if wantsRAID(o.Host.Spec.RAID) {
			fail(o, d, metal3.PreparationError, "", "spec.raid asks for volumes, which this version cannot set up yet: remove spec.raid")
			return
		}
		d.Status.Provisioning.RootDeviceHints = rootHints(o.Host)
		d.Status.Provisioning.RAID = o.Host.Spec.RAID.DeepCopy()
		complete(d)
		enter(o, d, metal3.StateAvailable)
	case ironic.StateCleaning, ironic.StateCleanWait:
		d.wait(lookAgain, cleaningNote(o))
	case ironic.StateCleanFailed:
		afterFailure(o, d, metal3.PreparationError, func() { leaveCleanFailed(o, d) })
	default:
		unexpected(o, d)
	}
}

// wantsRAID reports whether there is anything to set up or to delete.
func wantsRAID(r *metal3.RAIDConfig) bool {
	return r != nil && (len(r.HardwareRAIDVolumes) > 0 || len(r.SoftwareRAIDVolumes) > 0 || r.HardwareRAIDVolumes != nil)
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
