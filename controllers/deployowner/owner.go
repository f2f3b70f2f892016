// Package deployowner says whose it is what a BareMetalHost is deployed with: its
// spec.image and spec.customDeploy are the user's, those of whoever has the host by
// its consumerRef, or the linking controller's. Whoever else would write them keeps
// off and says so.
//
// The linking controller's is recorded on the host, before it writes the spec and in a
// write that fails when somebody else was faster; a consumer's is its consumerRef. Both
// survive a restart, a backup and a move to another cluster.
package deployowner

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// InfraEnvValue is the value of the annotation [names.DeployOwner] of a host whose
// deployment is the linking controller's.
const InfraEnvValue = "infraenv"

// Owner is whose a host's deployment is.
type Owner int

// The owners.
const (
	// Nobody has asked for a deployment.
	Nobody Owner = iota
	// User is a person who has written an image or a method, or has installed the machine.
	User
	// Consumer is whoever the host's consumerRef names, such as a HostClaim.
	Consumer
	// InfraEnv is the linking controller, on behalf of the InfraEnv that the label names.
	InfraEnv
)

// Of returns whose the host's deployment is.
func Of(h *metal3.BareMetalHost) Owner {
	method := Method(h)
	recorded := h.Annotations[names.DeployOwner] == InfraEnvValue
	assisted := method == names.StartAssistedInstall && h.Labels[names.InfraEnvLabel] != ""
	switch {
	case recorded && (method == names.StartAssistedInstall || method == "" && !others(h)):
		return InfraEnv
	case claimed(h):
		return Consumer
	case assisted: // asked for by a version, or by another linking controller, that recorded nothing
		return InfraEnv
	case h.Spec.ConsumerRef != nil:
		return Consumer
	case method != "" || others(h):
		return User
	}
	return Nobody
}

// Method is the method that the host's spec asks to be deployed by, empty for none.
func Method(h *metal3.BareMetalHost) string {
	if h.Spec.CustomDeploy == nil {
		return ""
	}
	return h.Spec.CustomDeploy.Method
}

// others reports a system that no method has to do with.
func others(h *metal3.BareMetalHost) bool {
	return h.Spec.Image != nil || h.Spec.ExternallyProvisioned || h.Status.Provisioning.State == metal3.StateExternallyProvisioned
}

func claimed(h *metal3.BareMetalHost) bool {
	return h.Spec.ConsumerRef != nil && h.Spec.ConsumerRef.Kind == "HostClaim"
}
