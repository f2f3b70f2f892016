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
	deployed := h.Status.OperationHistory.Provision.Start
	return h.Status.Provisioning.State == metal3.StateProvisioning && GivenBack(n) && (err != nil || !deployed.After(last))
}
