package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// stepProvisioned keeps a deployed host: adopted by Ironic, powered as wanted, and
// given back when the wish changes.
func stepProvisioned(o *Observed, d *Decision) {
	if nodespec.OtherWanted(o.Host) {
		if proven(o, d) {
			startDeprovisioning(o, d)
		}
		return
	}
	if servicing(o, d) {
		return
	}
	if adopted(o, d) {
		stepPower(o, d)
	}
}

// concernDeployed has the metadata of a host that has its system keep that: of one that was deployed before this was written
// down, that was adopted, or that somebody has put back without it.
func concernDeployed(o *Observed, d *Decision) {
	if o.State() == metal3.StateProvisioned && !o.Deleting() && !nodespec.OtherWanted(o.Host) {
		recordsDeployed(o, d, nodespec.Deployed(o.Host).Digest())
	}
}

// recordsDeployed has the host's metadata keep what is deployed, empty for nothing, and reports whether it did not. A status may
// be lost on the way to another cluster, or into a backup; metadata are not.
func recordsDeployed(o *Observed, d *Decision, digest string) bool {
	if o.Host.Annotations[names.Deployed] == digest {
		return false
	}
	d.do(RecordDeployed{digest})
	return true
}

// stepExternallyProvisioned keeps a host that somebody else installed.
func stepExternallyProvisioned(o *Observed, d *Decision) {
	if !o.Host.Spec.ExternallyProvisioned {
		if o.Node.ProvisionState == ironic.StateAdopting { // else it would be in use since after it was to be given back
			adopted(o, d)
			return
		}
		nodespec.Wanted(o.Host).ToStatus(&d.Status.Provisioning)
		enter(o, d, metal3.StateProvisioned)
		return
	}
	if beganAsKept(o, d) || servicing(o, d) {
		return
	}
	if adopted(o, d) {
		stepPower(o, d)
	}
}

// beganAsKept has the status tell of the deployment that its node records, since somebody says that it is
// to be kept as it is, and reports whether it did not. It would be taken for somebody else's when it is given back.
func beganAsKept(o *Observed, d *Decision) bool {
	n, known := o.InFull()
	if !known {
		return false
	}
	start := &d.Status.OperationHistory.Provision.Start
	begun, recorded := nodespec.RecordedBegin(n.Node())
	if !recorded || begun.Equal(start) {
		return false
	}
	*start, d.Again = begun, true
	return true
}

// adopted has Ironic take an installed machine as active, without touching it,
// and reports whether that is done.
func adopted(o *Observed, d *Decision) bool {
	adopt := func() { target(o, d, ironic.TargetAdopt) }
	switch o.Node.ProvisionState {
	case ironic.StateActive:
		return true
	case ironic.StateManageable:
		adopt()
	case ironic.StateAvailable, ironic.StateInspectFailed: // it was ours to work on until now
		manage(o, d)
	case ironic.StateAdopting:
		d.wait(lookAgain, view.Note{Step: "adopting the installed machine"})
	case ironic.StateAdoptFailed:
		afterFailure(o, d, metal3.ProvisionedRegistrationError, adopt)
	default:
		unexpected(o, d)
	}
	return false
}
