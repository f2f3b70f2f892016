package policy

import (
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/ironic"
)

// stepAvailable waits for a wish, with the power as wanted meanwhile.
func stepAvailable(o *Observed, d *Decision) {
	host := o.Host
	switch {
	case host.Spec.ExternallyProvisioned:
		forgetInstance(d)
		enterExternal(o, d)
	case recordsDeployed(o, d, ""): // that is gone
	case atRest(o.Node) && o.Media.Pending:
		emptyDrive(o, d)
	case o.inspectionAsked():
		workOn(o, d, metal3.StateInspecting)
	case o.preparingAsked():
		workOn(o, d, metal3.StatePreparing)
	case host.NeedsProvisioning():
		startProvisioning(o, d)
	case !atRest(o.Node):
		unexpected(o, d)
	default:
		if value, there := host.Annotations[names.Inspect]; there && value == "" {
			d.DropAnnotations = []string{names.Inspect} // inspection is disabled: nothing to do
		}
		if !nodespec.WantsInstance(host) {
			forgetFailedDeployments(d)
		}
		stepPower(o, d)
	}
}

// inspectionAsked reports whether an available machine is to be inspected.
func (o *Observed) inspectionAsked() bool {
	return inspectAgain(o.Host) && !o.Host.InspectionDisabled()
}

// preparingAsked reports whether an available machine is to be prepared.
func (o *Observed) preparingAsked() bool {
	h := o.Host
	return !equality.Semantic.DeepEqual(h.Status.Provisioning.RootDeviceHints, nodespec.RootHints(h)) ||
		!nodespec.SameRAID(h.Status.Provisioning.RAID, h.Spec.RAID) || plan.FirmwareChanged(o.Firmware)
}

// workOn begins to work on a machine, once its node does not say any more that the machine may
// be in use: it would be left alone.
func workOn(o *Observed, d *Decision, next State) {
	if proven(o, d) {
		enter(o, d, next)
	}
}

// proven has the node of a machine that is called free say so, and reports whether that is done.
func proven(o *Observed, d *Decision) bool {
	n, ok := o.readNode(d)
	return ok && (!nodespec.Unproven(n.Node()) || !ensureFields(o, d))
}

// startProvisioning begins a deployment, unless too many of this wish have failed
// in a row. The first of a wish does not inherit what failed before it.
func startProvisioning(o *Observed, d *Decision) {
	limit, failed := o.Settings.MaxAttempts, failedDeployments(o.Host, &d.Status)
	switch {
	case limit > 0 && failed >= limit:
		fail(o, d, metal3.ProvisioningError, causeGivenUp, fmt.Sprintf(
			"%d deployments in a row have failed, the last one with the reason in the host's events: "+
				"remove the cause, then change the spec or set the annotation %s", failed, names.Retry))
		return
	case failed == 0:
		complete(d)
		forgetFailedDeployments(d)
	}
	enter(o, d, metal3.StateProvisioning)
	d.event("ProvisioningStarted", "Provisioning started: "+nodespec.Wanted(o.Host).String())
}

// forgetInstance clears what the status says about a deployment.
func forgetInstance(d *Decision) {
	p := &d.Status.Provisioning
	nodespec.Wish{}.ToStatus(p)
	p.RootDeviceHints = nil
	if p.RAID != nil {
		p.RAID.SoftwareRAIDVolumes = nil
	}
}

// atRest reports whether the node is in a state in which power may be changed and
// a host may be detached.
func atRest(n *ironic.Row) bool {
	switch n.ProvisionState {
	case ironic.StateManageable, ironic.StateAvailable, ironic.StateActive:
		return true
	default:
		return false
	}
}
