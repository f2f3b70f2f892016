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
// use, or free and off, or was left alone already. If it is on, and free by the status, that
// is not of now.
func lostNode(in Input) bool {
	h := in.Host
	return h.Status.Provisioning.ID != "" && (InUse(h) || free(h) && (!h.Status.PoweredOn || in.LeftAlone))
}

// free reports a host that can be deployed.
func free(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return state == metal3.StateAvailable || state == metal3.StateReady
}

// Unproven reports whether it is recorded on a node that its machine may not be free.
func Unproven(n *ironic.Node) bool { return n.Extra[keyBaseline] == baselineUnknown }

// MayBeInUse reports whether a machine is to be left alone of which that is recorded, and
// which is not known to be off. Nothing is left to be said when somebody says that what runs
// is to be kept, and as long as the machine is to be on, and nothing is to be deployed.
func MayBeInUse(h *metal3.BareMetalHost, power ironic.PowerState) bool {
	return free(h) && power != ironic.PowerOff && !h.Spec.ExternallyProvisioned && (!h.Spec.Online || WantsInstance(h))
}

// desiredBaseline has the record go once it is over: the node itself tells, by now, or the
// machine is about to be worked on. That a free machine is off is not enough: it may come on
// by itself, as after a loss of mains, and run what it ran before.
func desiredBaseline(in Input, d *ironic.Desired) {
	h, n := in.Host, in.Node
	adopting := InUse(h) && n.ProvisionState != ironic.StateActive
	waits := free(h) && (!h.Spec.Online || n.PowerState != ironic.PowerOff)
	if !Unproven(n) || adopting || waits {
		return
	}
	if d.Extra == nil {
		d.Extra = ironic.Fields{}
	}
	d.Extra[keyBaseline] = ironic.Remove
}
