package policy

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// stepInspecting has Ironic inspect the machine and keeps the result.
func stepInspecting(o *Observed, d *Decision) {
	if o.Host.InspectionDisabled() && !o.Node.ProvisionState.Busy() {
		d.event("InspectionSkipped", "inspection is disabled by the host's spec")
		finishInspection(o, d)
		return
	}
	start := func() {
		if !fits(o, d, metal3.InspectionError) {
			return
		}
		if n, ok := o.knownNode(d); ok {
			d.do(n.Inspect())
		}
		d.event("InspectionStarted", "Hardware inspection started")
	}
	switch o.Node.ProvisionState {
	case ironic.StateInspecting, ironic.StateInspectWait:
		if inspectAgain(o.Host) {
			d.DropAnnotations = []string{names.Inspect}
		}
		if o.Node.ProvisionState == ironic.StateInspectWait && startOver(o, d) {
			return
		}
		d.wait(lookAgain, inspectionNote(o))
	case ironic.StateInspectFailed:
		if notBefore(o, d) {
			return
		}
		afterFailure(o, d, metal3.InspectionError, start)
	case ironic.StateAvailable:
		manage(o, d)
	case ironic.StateManageable:
		inspectManageable(o, d, start)
	default:
		unexpected(o, d)
	}
}

// inspectManageable starts an inspection unless its result is there.
func inspectManageable(o *Observed, d *Decision, start func()) {
	again := inspectAgain(o.Host)
	if again {
		switch n, ok := o.readNode(d); {
		case !ok:
			return
		case inspectedSince(o, n):
			// It ended before anybody could see it run: we were away.
			d.DropAnnotations = []string{names.Inspect}
			d.Again = true
			return
		}
	}
	switch {
	case again, o.NoInventory:
		if !notBefore(o, d) {
			start()
		}
	case o.Inventory == nil:
		if n, ok := o.knownNode(d); ok {
			d.do(n.ReadInventory())
		}
	default:
		details := nodespec.HardwareDetails(o.Inventory)
		if !nodespec.SameHardware(o.Hardware, details) {
			d.do(SaveHardware{details})
			return
		}
		d.Status.HardwareDetails = details
		d.event("InspectionComplete", "Hardware inspection completed")
		finishInspection(o, d)
	}
}

// inspectedSince reports whether the node's last inspection ended after the phase
// began. The two clocks may differ: by as much as they do, a wish that follows
// right upon an inspection counts as fulfilled by it, or is fulfilled twice.
func inspectedSince(o *Observed, n nodeaction.Read) bool {
	began := o.Host.Status.OperationHistory.Inspect.Start
	return !began.IsZero() && n.InspectionFinishedAt.After(began.Add(statusTick))
}

// statusTick is what times in a status are rounded to.
const statusTick = time.Second

func finishInspection(o *Observed, d *Decision) {
	complete(d)
	enter(o, d, metal3.StatePreparing)
}

// inspectAgain reports whether somebody asked for another inspection.
func inspectAgain(h *metal3.BareMetalHost) bool {
	value, asked := h.Annotations[names.Inspect]
	return asked && value == ""
}

// inspectionNote says how far the inspection is. It is the same while Ironic
// prepares the boot and while it waits, since that says little and costs a write.
func inspectionNote(o *Observed) view.Note {
	if nodespec.InspectsFast(o.Host) {
		return view.Note{Step: "inspecting the hardware", WaitingFor: "the BMC to tell what the machine has"}
	}
	return withProgress(view.Note{
		Step: "inspecting the hardware", WaitingFor: "the machine to boot the live image and report",
	}, told(o))
}

// stepMatchProfile passes a legacy state through.
func stepMatchProfile(o *Observed, d *Decision) { enter(o, d, metal3.StatePreparing) }
