package nodespec

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
)

// inspectionModeFast is a mode of newer versions of the API, which their schema lets
// through: the BMC tells what the machine has, and nothing is booted.
const inspectionModeFast metal3.InspectionMode = "fast"

// InspectsFast reports whether a host is inspected through its BMC alone.
func InspectsFast(h *metal3.BareMetalHost) bool {
	return h.Spec.InspectionMode == inspectionModeFast && !h.InspectionDisabled()
}

// BootsForInspection reports whether a host boots the live image to be inspected.
func BootsForInspection(h *metal3.BareMetalHost) bool {
	return !h.InspectionDisabled() && !InspectsFast(h)
}

// inspectInterface is Ironic's interface for the inspection of a host; empty leaves it
// to Ironic, for hosts that are not inspected.
func inspectInterface(h *metal3.BareMetalHost, a Access) string {
	switch {
	case h.InspectionDisabled():
		return ""
	case InspectsFast(h):
		return a.Interfaces.Inspect
	default:
		return "agent"
	}
}
