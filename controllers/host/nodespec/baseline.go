package nodespec

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// keyBaseline is, in a node's extra, that nobody can tell by the node whether its machine is
// free: it was enrolled in the place of one that is gone, and the host's status may be, or
// become by a restore from a backup, older than what was done to the machine.
const keyBaseline = "ironflow_baseline"

// baselineUnknown is its value.
const baselineUnknown = "unknown"

// lostNode reports a host whose status says that it had a node, and that its machine is in
// use, or free and off. If it is on, and free by the status, that is not of now.
func lostNode(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.ID != "" && (InUse(h) || free(h) && !h.Status.PoweredOn)
}

// free reports a host that can be deployed.
func free(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return state == metal3.StateAvailable || state == metal3.StateReady
}

// Unproven reports whether it is recorded on a node that its machine may not be free.
func Unproven(n *ironic.Node) bool { return n.Extra[keyBaseline] == baselineUnknown }

// MayBeInUse reports whether a machine is to be left alone of which that is recorded. It may
// be worked on when it is seen off, and when somebody says what it is: by
// externallyProvisioned, by the wish for an inspection, or by spec.online with nothing to be
// deployed. One request that asks for an image and for online alike says nothing of that.
func MayBeInUse(h *metal3.BareMetalHost, on bool) bool {
	return free(h) && on && !h.Spec.ExternallyProvisioned && (!h.Spec.Online || WantsInstance(h))
}

// desiredBaseline has the record go once it is over: the node itself tells, by now, or the
// machine may be worked on.
func desiredBaseline(in Input, d *ironic.Desired) {
	n := in.Node
	adopting := InUse(in.Host) && n.ProvisionState != ironic.StateActive
	if !Unproven(n) || n.PowerState == "" || adopting || MayBeInUse(in.Host, n.PowerState == ironic.PowerOn) {
		return
	}
	if d.Extra == nil {
		d.Extra = ironic.Fields{}
	}
	d.Extra[keyBaseline] = ironic.Remove
}
