package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// startDeprovisioning begins to give the machine back.
func startDeprovisioning(o *Observed, d *Decision) {
	enter(o, d, metal3.StateDeprovisioning)
	d.event("DeprovisioningStarted", "Deprovisioning started")
}

// stepDeprovisioning has Ironic tear the instance down and clean the machine.
func stepDeprovisioning(o *Observed, d *Decision) {
	if deprovisioningGivenUp(o, d) {
		return
	}
	tearDown := func() { target(o, d, ironic.TargetDeleted) }
	if keptThoughDeleted(o) {
		enter(o, d, phases[metal3.StateExternallyProvisioned].deleted)
		return
	}
	switch o.Node.ProvisionState {
	case ironic.StateActive:
		if !wantedAfterAll(o, d) {
			tearDown()
		}
	case ironic.StateDeployWait, ironic.StateServiceWait:
		if !cleaningToBeDisabled(o, d) {
			tearDown()
		}
	case ironic.StateServiceFailed:
		if o.Node.Maintenance && o.Node.Fault != "" {
			endMaintenance(o, d) // that of the failure, in which Ironic would refuse what comes after
			return
		}
		tearDown()
	case ironic.StateDeployFailed:
		tearDown()
	case ironic.StateError:
		afterFailure(o, d, metal3.ProvisioningError, tearDown)
	case ironic.StateDeploying, ironic.StateAdopting, ironic.StateServicing:
		d.wait(lookAgain, view.Note{Step: "waiting to deprovision", WaitingFor: "Ironic to end what it is doing (" + string(o.Node.ProvisionState) + ")"})
	case ironic.StateDeleting:
		d.wait(lookAgain, view.Note{Step: "tearing down the instance"})
	case ironic.StateCleaning, ironic.StateCleanWait:
		d.wait(lookAgain, cleaningNote(o))
	case ironic.StateCleanFailed:
		afterFailure(o, d, metal3.ProvisioningError, func() { leaveCleanFailed(o, d) })
	case ironic.StateInspectFailed, ironic.StateAdoptFailed:
		manage(o, d)
	case ironic.StateManageable:
		target(o, d, ironic.TargetProvide)
	case ironic.StateAvailable:
		deprovisioned(o, d)
	default:
		unexpected(o, d)
	}
}

// keptThoughDeleted reports a host that is deleted while it says that what is on its machine is to be kept, and could
// not be told so before: nothing of that is taken away that Ironic is not at work on.
func keptThoughDeleted(o *Observed) bool {
	return o.Deleting() && o.Host.Spec.ExternallyProvisioned && (o.Node.ProvisionState == ironic.StateActive || o.Node.ProvisionState == ironic.StateManageable)
}

// cleaningToBeDisabled ends by itself a deployment, or servicing, whose node does not know yet that its machine is not to be
// cleaned, and reports whether it does. A node that waits for its machine takes no update; one where that has failed does.
// Ironic ends it after the step that runs.
func cleaningToBeDisabled(o *Observed, d *Decision) bool {
	if nodespec.AutomatedClean(o.Host) || o.AbortRefused {
		return false
	}
	n, ok := o.readNode(d)
	if !ok {
		return true
	}
	return wouldClean(o, n) && abandon(o, d)
}

// wouldClean reports a node that does not know yet that its machine is not to be cleaned.
func wouldClean(o *Observed, n nodeaction.Read) bool {
	return !nodespec.AutomatedClean(o.Host) && (n.AutomatedClean == nil || *n.AutomatedClean)
}

// wantedAfterAll keeps a machine whose deployment was to be cut short, and has ended with just
// what is wanted by now, and reports whether it has something to do about that. What was
// there when its image was taken away is given back, whatever is wanted since.
func wantedAfterAll(o *Observed, d *Decision) bool {
	if o.Deleting() || !nodespec.WantsInstance(o.Host) || nodespec.Deployed(o.Host) != (nodespec.Wish{}) {
		return false
	}
	n, ok := o.readNode(d)
	if !ok {
		return true
	}
	if _, known := nodespec.RecordedWish(n.Node()); !known || !nodespec.DeployedAsWanted(o.Host, n.Node()) {
		return false
	}
	deployed(o, d)
	return true
}

// concernTakenBack has a machine stay in use that was to be given back for another wish, which was taken back before
// Ironic was asked for anything: the spec, the status and the node agree again on what is on it. Nothing changes for what
// the hub installs, which takes its Agent and its Node away as soon as its machine is to be given back.
func concernTakenBack(o *Observed, d *Decision) {
	told := nodespec.Deployed(o.Host)
	switch {
	case o.State() != metal3.StateDeprovisioning || o.Deleting() || o.Host.Spec.ExternallyProvisioned:
		return
	case told == (nodespec.Wish{}) || told.Method == names.StartAssistedInstall || nodespec.OtherWanted(o.Host):
		return
	case o.Node == nil || o.Node.UUID != o.Host.Status.Provisioning.ID || o.Node.ProvisionState != ironic.StateActive:
		return
	}
	n, ok := o.readNode(d)
	if !ok {
		return
	}
	asked, known := nodespec.RecordedWish(n.Node())
	switch {
	case known && (nodespec.Changed(asked, told) || nodespec.Changed(told, asked)), nodespec.OfAnotherTime(o.Host, n.Node()):
		return
	case n.Reservation != "": // Ironic may have been asked, and be about to begin
		d.wait(WaitBusy, view.Note{Step: "waiting to keep the machine in use", WaitingFor: "whoever holds the node in Ironic"})
		return
	}
	complete(d)
	d.event("DeprovisioningCancelled", "Deprovisioning had not begun, and the spec asks for what is on the machine: "+told.String())
	enter(o, d, metal3.StateProvisioned)
	if !nodespec.GivenBack(n.Node()) { // else it tells that what was adopted since is the host's
		d.Status.OperationHistory.Deprovision = metal3.OperationMetric{}
	}
}

// maxDeleteAttempts is how many failures a host that is being deleted is tried
// on before it is released without what failed.
const maxDeleteAttempts = 3

// failedToDelete reports a host that is being deleted and has failed too often, the
// last time since its deletion: that deserves one attempt whatever was before.
func failedToDelete(o *Observed) bool {
	return o.Deleting() && o.Failing() && o.Host.Status.ErrorCount > maxDeleteAttempts && changedSinceDeletion(o)
}

// deprovisioningGivenUp ends the deprovisioning of a host that is being deleted
// after too many failures.
func deprovisioningGivenUp(o *Observed, d *Decision) bool {
	if !failedToDelete(o) {
		return false
	}
	d.warn("DeletedWithoutDeprovisioning", "deprovisioning failed too often, the host is deleted without it: "+o.Host.Status.ErrorMessage)
	d.count(Count{Metric: MetricDeleteNoDeprov})
	d.Status.ErrorCount = 0
	if o.Host.Status.ErrorType == metal3.RegistrationError {
		enter(o, d, StateDeleting) // a BMC that cannot be reached does not switch off either
		return true
	}
	enter(o, d, metal3.StatePoweringOffBeforeDelete)
	return true
}

// deprovisioned ends the phase. The count of failures stays when this was part of
// another attempt at the same deployment, so that the back-off grows.
func deprovisioned(o *Observed, d *Decision) {
	if !o.Deleting() && recordsDeployed(o, d, "") {
		return
	}
	again := o.Host.NeedsProvisioning() && !o.Host.WasProvisioned() && !o.Deleting()
	forgetInstance(d)
	d.DropAnnotations = ours(rebootAnnotations(o.Host)) // it was for what was on the machine
	if !again {
		complete(d)
		forgetFailedDeployments(d)
	}
	d.event("DeprovisioningComplete", "Deprovisioning completed")
	if o.Deleting() {
		enter(o, d, metal3.StatePoweringOffBeforeDelete)
		return
	}
	d.Status.Provisioning.RootDeviceHints = nodespec.RootHints(o.Host)
	enter(o, d, metal3.StateAvailable)
}
