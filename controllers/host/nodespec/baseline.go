package nodespec

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// keyBaseline is, in a node's extra, that nobody can tell by the node whether its machine is
// free: it was enrolled in the place of one that is gone, and the host's status may be, or
// become by a restore from a backup, older than what was done to the machine.
const keyBaseline = "ironflow_baseline"

// Values of that.
const (
	baselineUnknown = "unknown"
	// baselineKept is that of a machine which was free by this node, and was said to be kept as it is since.
	baselineKept = "kept"
)

// Arrived reports a host that came without its status, as by a move or from a backup that has none, and on whose machine
// something was deployed where it came from. Only a host without a status comes to be registered, and nobody deploys it before it is.
func Arrived(h *metal3.BareMetalHost) bool {
	return h.Annotations[names.Deployed] != "" && h.Status.Provisioning.State == metal3.StateRegistering
}

// lostNode reports a host whose status says that it had a node, and is no word of that its
// machine is free: the machine is in use, or was left alone already; it is said to be free and
// off, and if it is on, that is not of now; or Ironic was at work on it, which may have ended
// since. One that has arrived without its status is known by its metadata alone.
func lostNode(in Input) bool {
	h := in.Host
	switch {
	case InUse(h) || in.LeftAlone || Arrived(h):
		return true
	case h.Status.Provisioning.ID == "":
		return false
	case free(h):
		return !h.Status.PoweredOn || InDoubt(&h.Status)
	default:
		return !in.SeenAtWork
	}
}

// ReasonDoubt is the reason of the condition MachineRecorded of a free host whose last node recorded that the machine may be in use.
const ReasonDoubt = "MayBeInUse"

// InDoubt reports whether the status says so.
func InDoubt(s *metal3.BareMetalHostStatus) bool {
	return slices.ContainsFunc(s.Conditions, func(c metav1.Condition) bool { return c.Type == MachineCondition && c.Reason == ReasonDoubt })
}

// MachineCondition is the condition that has which machine a host has.
const MachineCondition = "MachineRecorded"

// inWork are the phases in which a machine is worked on that nobody uses.
var inWork = []metal3.ProvisioningState{metal3.StateInspecting, metal3.StatePreparing, metal3.StateProvisioning, metal3.StateDeprovisioning}

// Worked reports whether the host's machine is worked on.
func Worked(h *metal3.BareMetalHost) bool {
	return slices.Contains(inWork, h.Status.Provisioning.State)
}

// free reports a host that can be deployed.
func free(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return state == metal3.StateAvailable || state == metal3.StateReady
}

// Unproven reports whether it is recorded on a node that its machine may not be free.
func Unproven(n *ironic.Node) bool {
	return n.Extra[keyBaseline] == baselineUnknown || IsKept(n)
}

// IsKept reports whether it is recorded on a node that its machine, which was free, is to be kept as it is.
func IsKept(n *ironic.Node) bool { return n.Extra[keyBaseline] == baselineKept }

// Marked reports whether that is recorded on a node that is to be enrolled.
func Marked(e ironic.Enrolment) bool { return e.Extra[keyBaseline] == baselineUnknown }

// Doubt is what has a node record, if it does not, that the host's status is of before the
// node: doubtful is false where nothing is to be recorded.
func Doubt(in Input) (want ironic.Desired, doubtful bool) {
	if !lostNode(in) || Unproven(in.Node) {
		return ironic.Desired{}, false
	}
	return ironic.Desired{Extra: ironic.Fields{keyBaseline: baselineUnknown}}, true
}

// Kept is what has a node record, if it does not, that what is on its machine is to be kept, which the host's status is about to
// say: a status of a backup does not. It is over once the node is adopted: kept is false where nothing is to be recorded.
func Kept(n *ironic.Node) (want ironic.Desired, kept bool) {
	return ironic.Desired{Extra: ironic.Fields{keyBaseline: baselineKept}}, !Unproven(n)
}

// MayBeInUse reports whether a machine is to be left alone of which that is recorded. Nothing is
// left to be said when somebody says that what is there is to be kept, and where an active node tells. One that
// is said to be free is left alone unless it is known to be off, or is to be on and nothing is to be deployed. One
// that is said to be worked on may be in use whether it is on or off. That it is off is for the caller to know.
func MayBeInUse(h *metal3.BareMetalHost, n *ironic.Row, off bool) bool {
	switch {
	case h.Spec.ExternallyProvisioned || h.DeletionTimestamp != nil:
		return false
	case Worked(h):
		return n.ProvisionState != ironic.StateActive
	default:
		return free(h) && !off && (!h.Spec.Online || WantsInstance(h))
	}
}

// heldBack reports a machine that is to be worked on, and that is left alone until somebody
// has called it free.
func heldBack(in Input) bool {
	return Worked(in.Host) && Unproven(in.Node) && !in.CalledFree && MayBeInUse(in.Host, &in.Node.Row, in.KnownOff)
}

// desiredBaseline has the record go once it is over: the node itself tells, by now, or the
// machine is about to be worked on. That a free machine is off is not enough: it may come on
// by itself, as after a loss of mains, and run what it ran before.
func desiredBaseline(in Input, d *ironic.Desired) {
	h, n := in.Host, in.Node
	adopting := InUse(h) && n.ProvisionState != ironic.StateActive && !in.CalledFree
	waits := free(h) && !in.CalledFree && (!h.Spec.Online || !in.KnownOff) ||
		h.Status.Provisioning.State == metal3.StateRegistering ||
		heldBack(in)
	if !Unproven(n) || adopting || waits {
		return
	}
	d.Extra[keyBaseline] = ironic.Remove
}
