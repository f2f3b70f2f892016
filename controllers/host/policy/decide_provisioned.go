package policy

import (
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/controllers/host/nodespec"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// stepProvisioned keeps a deployed host: adopted by Ironic, powered as wanted, and
// given back when the wish changes.
func stepProvisioned(o *Observed, d *Decision) {
	if nodespec.Changed(nodespec.Wanted(o.Host), nodespec.Deployed(o.Host)) {
		startDeprovisioning(o, d)
		return
	}
	if undeployed(o, d) || servicing(o, d) {
		return
	}
	if adopted(o, d) {
		stepPower(o, d)
	}
}

// causeUndeployed is the cause of a machine that was taken out of use behind the host's back.
const causeUndeployed = "NodeNotActive"

// tornDown are states that the node of a host in use comes into by nobody but somebody who
// deploys, undeploys or cleans it in Ironic.
var tornDown = slices.Concat(deploying, releasing, []ironic.ProvisionState{
	ironic.StateCleanFailed, ironic.StateAvailable, ironic.StateDeployFailed, ironic.StateError,
})

// undeployed stops at a node that is not active any more, because somebody has seen to that
// in Ironic: what the host's status says is not on the machine, or may not be. Adopting it
// would only hide that.
func undeployed(o *Observed, d *Decision) bool {
	state := o.Node.ProvisionState
	if !slices.Contains(tornDown, state) {
		return false
	}
	text := fmt.Sprintf("node %s is %q in Ironic, though this host is provisioned: somebody has undeployed, cleaned or deployed it there. "+
		"What was installed is most likely gone; nothing is done to the machine. To install it again, remove spec.image and spec.customDeploy, and set them again when the host is available. "+
		"If the machine still runs what it shall, bring the node to manageable in Ironic: then it is adopted", o.Node.UUID, state)
	if !stalledBy(o, causeUndeployed) || o.Host.Status.ErrorMessage != text {
		fail(o, d, metal3.ProvisionedRegistrationError, causeUndeployed, text)
	}
	d.wait(0, view.Note{Step: "node is " + string(state), WaitingFor: "somebody to install the machine again, or to bring the node to manageable in Ironic"})
	return true
}

// stepExternallyProvisioned keeps a host that somebody else installed.
func stepExternallyProvisioned(o *Observed, d *Decision) {
	if !o.Host.Spec.ExternallyProvisioned {
		nodespec.Wanted(o.Host).ToStatus(&d.Status.Provisioning)
		enter(o, d, metal3.StateProvisioned)
		return
	}
	if servicing(o, d) {
		return
	}
	if adopted(o, d) {
		stepPower(o, d)
	}
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
	case ironic.StateAvailable: // it was ours to deploy until now
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
