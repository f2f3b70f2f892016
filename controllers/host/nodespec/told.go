package nodespec

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// toldText is how a node keeps what it was told of its host's spec: a digest of all that a node at rest follows from. The
// generation would not do, since that of a host which was put back from a backup says something else than it said before.
func toldText(h *metal3.BareMetalHost) string {
	return ironic.WishDigest(map[string]any{
		"address": h.Spec.BMC.Address, "unverified": h.Spec.BMC.DisableCertificateVerification, "boot": h.BootMode(),
		"architecture": h.Spec.Architecture, "clean": AutomatedClean(h), "neverOff": h.Spec.DisablePowerOff,
	})
}

// ToldOtherwise reports whether a node was last told of something else than the host says, whatever the host's status
// says of that: it is of a backup of the API server's database. A node that keeps nothing of it tells nothing: a fleet
// that is taken over is not written to for that alone.
func ToldOtherwise(h *metal3.BareMetalHost, n *ironic.Row) bool {
	return n.Told != "" && n.Told != toldText(h)
}
