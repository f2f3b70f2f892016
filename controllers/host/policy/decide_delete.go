package policy

import (
	"strconv"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// seenFirst looks for the node of a host that is about to be given back for its deletion, where nobody has seen it yet: by the
// status alone it cannot be told whether what the machine runs is what the host had. A node that was seen is read anyway.
func seenFirst(o *Observed, d *Decision) bool {
	if o.Missing || o.Owner.Foreign != "" || o.Node != nil {
		return false
	}
	d.do(LookUp{})
	return true
}

// deletedUncleaned is where the deletion of a host leads whose status does not tell what is on its machine: it goes as one that
// says that somebody else has installed that. Nothing is cleaned that nobody has called the host's, or free.
func deletedUncleaned(d *Decision, why string) State {
	d.warn("DeletedWithoutDeprovisioning", "the host is deleted without cleaning its machine: "+why+" before the host is deleted")
	d.count(Count{Metric: MetricDeleteNoDeprov})
	return phases[metal3.StateExternallyProvisioned].deleted
}

// stepPoweringOff switches the machine off before its host goes, so that nobody
// finds it running without an owner.
func stepPoweringOff(o *Observed, d *Decision) {
	switch {
	case !o.Deleting():
		notDeleted(d)
	case failedToDelete(o):
		d.warn("DeletedWithoutPoweringOff", "powering off failed too often, the host is deleted without it: "+o.Host.Status.ErrorMessage)
		d.count(Count{Metric: MetricDeleteNoPower})
		enter(o, d, StateDeleting)
	case interrupted(o, d):
	case o.Node.ProvisionState.Busy():
		unexpected(o, d)
	case o.Node.TargetPowerState == "" && o.Node.PowerState == ironic.PowerOff, o.Host.Spec.DisablePowerOff:
		d.Status.PoweredOn = false
		if !atRest(o.Node) || mediaSettled(o, d, false) {
			enter(o, d, StateDeleting)
		}
	default:
		switchPower(o, d, ironic.PowerOff)
	}
}

// interrupted ends what Ironic does to a machine that is to be switched off for
// good, and reports whether it does: an inspection, and cleaning that nobody
// waits for. Automated cleaning goes on to its end.
func interrupted(o *Observed, d *Decision) bool {
	switch o.Node.ProvisionState {
	case ironic.StateCleanWait:
		manual := o.Node.TargetProvisionState == ironic.StateManageable
		return (manual || !nodespec.AutomatedClean(o.Host)) && abandon(o, d)
	case ironic.StateInspectWait:
		return abandon(o, d)
	case ironic.StateInspectFailed:
		manage(o, d)
		return true
	default:
		return false
	}
}

// notDeleted leaves a host alone whose status was written by hand: only a real
// deletion ends a host.
func notDeleted(d *Decision) {
	d.wait(0, view.Note{Step: "on its way out by its status", WaitingFor: "somebody to delete the host, or to correct its status"})
}

// deleteReason is what a node says while it is removed with its host, and
// otherDeleteReason what it says when baremetal-operator has begun to.
const (
	deleteReason      = "the host is being deleted"
	otherDeleteReason = "forcing deletion in baremetal-operator"
)

// stepDeleting removes the node from Ironic and lets the host go.
func stepDeleting(o *Observed, d *Decision) {
	if !o.Deleting() {
		notDeleted(d)
		return
	}
	switch {
	case o.Missing:
		d.do(Release{})
	case o.Node == nil:
		d.do(LookUp{}) // there may be one of whose id nothing is stored
	default:
		if inMaintenance(o, d) || WantsDetach(o.Host) && detachArguments(o.Host).Force && abandon(o, d) {
			return
		}
		removeNode(o, d, deleteReason)
	}
}

// removeNode deletes the node without touching the machine. Ironic refuses that
// for nodes in use or at work unless they are in maintenance.
func removeNode(o *Observed, d *Decision, reason string) {
	n := o.Node
	switch {
	case n.ProvisionState.Busy() && !o.Overdue():
		d.wait(lookAgain, view.Note{Step: "waiting to remove the node", WaitingFor: "Ironic to end what it is doing (" + string(n.ProvisionState) + ")"})
	default:
		read, ok := o.readNode(d)
		switch {
		case !ok:
		case !removable(n.ProvisionState) && !n.Maintenance:
			d.do(read.SetMaintenance(reason))
		default:
			d.do(read.Remove())
		}
	}
}

// removable reports whether Ironic deletes a node in this state without maintenance.
func removable(s ironic.ProvisionState) bool {
	switch s {
	case ironic.StateEnroll, ironic.StateManageable, ironic.StateAvailable, ironic.StateAdoptFailed:
		return true
	default:
		return false
	}
}

// concernMoved leaves a host alone that is elsewhere now, and is deleted here for that, or is about to be: who moves it
// takes its finalizers off before, and its machine runs on.
func concernMoved(o *Observed, d *Decision) {
	switch {
	case !reconcile.Moved(o.Host):
	case o.Deleting():
		d.do(Release{})
	default:
		d.wait(0, view.Note{Step: "moved to another cluster", WaitingFor: "who moves it to delete it here, or somebody to remove the annotation " + names.DeleteForMove})
	}
}

// concernForceDelete releases a host that is being deleted without touching node
// or machine, when its name stands in the annotation.
func concernForceDelete(o *Observed, d *Decision) {
	if !o.Deleting() || o.Host.Annotations[names.ForceDelete] != o.Host.Name {
		return
	}
	d.warn("ForceDeleted", "the host was released on request of the annotation "+names.ForceDelete+
		"; the machine and its node in Ironic were left as they are, phase "+strconv.Quote(string(o.State())))
	d.count(Count{Metric: MetricDeleteNoDeprov})
	d.do(Release{})
}
