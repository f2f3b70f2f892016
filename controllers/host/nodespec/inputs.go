package nodespec

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// keyInputs is, in instance_info, a digest of all of a host that its deployment is made of.
const keyInputs = "ironflow_inputs"

// inputs names what a host's deployment is made of, but for the content of Secrets.
func inputs(h *metal3.BareMetalHost) string {
	return ironic.WishDigest(map[string]any{
		"wish": Wanted(h), "hints": RootHints(h), "raid": h.Spec.RAID, "boot": h.BootMode(),
		"infraEnv": h.Labels[names.InfraEnvLabel],
	})
}

// DeployedAsWanted reports whether a node's deployment is known to be made of just what the
// host asks for now. What is in a Secret may have changed since.
func DeployedAsWanted(h *metal3.BareMetalHost, n *ironic.Node) bool {
	secrets := h.Spec.UserData != nil || h.Spec.NetworkData != nil || h.Spec.MetaData != nil
	return !secrets && WantsInstance(h) && text(n.InstanceInfo, keyInputs) == inputs(h)
}
