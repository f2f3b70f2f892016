package policy

import (
	"encoding/json"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// detachReason is what a node says while its host is being detached.
const detachReason = "detached by Ironflow"

// concernDetached leaves a detached host alone until the annotation goes.
func concernDetached(o *Observed, d *Decision) {
	switch {
	case FailedDetaches(o.Host) > 0 && !Detaching(o):
		meta.RemoveStatusCondition(&d.Status.Conditions, detachCondition)
		d.Again = true
	case o.Deleting() || !isDetached(o.Host):
	case WantsDetach(o.Host):
		d.wait(0, view.Note{Step: "detached", WaitingFor: "somebody to remove the annotation " + names.Detached})
	default:
		attach(o, d)
	}
}

// concernDetach removes a host that rests from Ironic, without touching the machine.
func concernDetach(o *Observed, d *Decision) {
	switch {
	case Detaching(o):
		detach(o, d)
	case detachedBefore(o) && o.Detail == Unknown:
		d.do(LookUp{})
	case detachedBefore(o) && o.Detail == Missing:
		d.Status.OperationalStatus = metal3.OperationalStatusDetached
		d.event("Detached", "the host has no status and no node, and its annotation says that it is detached: it is not enrolled")
		d.Again = true
	}
}

// detachedBefore reports a host that knows of no node and carries the annotation: its
// status may have been lost after it was detached, and its machine run what was deployed.
func detachedBefore(o *Observed) bool {
	fresh := o.State() == StateNone || o.State() == metal3.StateRegistering && o.Host.Status.Provisioning.ID == ""
	return fresh && o.Host.HasBMCDetails() && WantsDetach(o.Host) && !isDetached(o.Host) && !o.Deleting()
}

// Detaching reports whether all that is done with the node is to let go of it.
func Detaching(o *Observed) bool {
	return WantsDetach(o.Host) && !isDetached(o.Host) && !o.Deleting() &&
		(o.phase().steady || detachArguments(o.Host).Force && o.phase().node)
}

// attach has Ironic manage the host again. What was under way when it was
// detached by force is decided anew.
func attach(o *Observed, d *Decision) {
	d.Status.OperationalStatus = metal3.OperationalStatusOK
	if o.Failing() {
		d.Status.OperationalStatus = metal3.OperationalStatusError
	}
	d.event("Attached", "the host is managed by Ironic again")
	d.Again = true
}

// detach takes the node out of Ironic.
func detach(o *Observed, d *Decision) {
	if due := nextDetach(o); o.Now.Before(due) && !o.Retry {
		d.wait(due.Sub(o.Now), view.Note{Step: "detaching after a failure", WaitingFor: "the next attempt"})
		return
	}
	switch o.Detail {
	case Unknown:
		d.do(LookUp{})
	case Missing:
		d.Status.OperationalStatus = metal3.OperationalStatusDetached
		d.event("Detached", "the host is no longer managed by Ironic; the machine was not touched")
		d.Again = true
	default:
		if detachArguments(o.Host).Force && abandon(o, d) {
			return
		}
		removeNode(o, d, detachReason)
	}
}

// WantsDetach reports whether the annotation asks to detach the host.
func WantsDetach(h *metal3.BareMetalHost) bool {
	_, asked := h.Annotations[names.Detached]
	return asked
}

// isDetached reports whether the status says that the host is detached.
func isDetached(h *metal3.BareMetalHost) bool {
	return h.Status.OperationalStatus == metal3.OperationalStatusDetached
}

// detachArguments reads the annotation's value; anything that is not JSON is a
// plain request.
func detachArguments(h *metal3.BareMetalHost) metal3.DetachedAnnotationArguments {
	var args metal3.DetachedAnnotationArguments
	if json.Unmarshal([]byte(h.Annotations[names.Detached]), &args) != nil {
		return metal3.DetachedAnnotationArguments{}
	}
	return args
}
