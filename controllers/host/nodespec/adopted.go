package nodespec

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// AdoptedSince reports whether a node in use holds what its host knows nothing of: the deployment that the status tells of was
// given back, as the node records, and the machine adopted as somebody else has installed it, before the status was put back.
// One that began after the last that the node has a record of is another controller's, which leaves none.
func AdoptedSince(h *metal3.BareMetalHost, n *ironic.Node) bool {
	last, err := time.Parse(time.RFC3339, text(n.Extra, KeyBegun))
	deployed, back := h.Status.OperationHistory.Provision.Start, h.Status.OperationHistory.Deprovision.Start
	if !GivenBack(n) || err == nil && deployed.After(last) {
		return false
	}
	switch h.Status.Provisioning.State {
	case metal3.StateProvisioning:
		return true
	case metal3.StateDeprovisioning: // what is to be given back was there when that began; the status has whole seconds
		return n.ProvisionUpdatedAt.After(back.Add(time.Second))
	case metal3.StateProvisioned: // the status of a host that was adopted, and is its user's since, knows of what was given back before
		return n.InstanceUUID == "" && !deployed.IsZero() && back.Before(&deployed)
	default:
		return false
	}
}
