package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// servicing changes the firmware of a host in use, where its HostUpdatePolicy
// allows that: between the power-off and the power-on of a reboot. It reports
// whether it has something to do or to wait for.
func servicing(o *Observed, d *Decision) bool {
	state := o.Node.ProvisionState
	if under := state == ironic.StateServicing || state == ironic.StateServiceWait; under && d.Status.OperationalStatus != metal3.OperationalStatusServicing {
		d.Status.OperationalStatus = metal3.OperationalStatusServicing
		d.Again = true
		return true
	}
	switch state {
	case ironic.StateServicing:
		if !takenUnheard(o, d) {
			d.wait(lookAgain, serviceNote(o))
		}
	case ironic.StateServiceWait:
		if takenUnheard(o, d) {
			return true
		}
		if _, read := o.AsRead(); read && !serviceWished(o) {
			abortService(o, d)
			return true
		}
		d.wait(lookAgain, serviceNote(o))
	case ironic.StateServiceFailed:
		serviceFailed(o, d)
	case ironic.StateActive:
		return serviceActive(o, d)
	default:
		return false
	}
	return true
}

// serviceActive goes on with servicing, or ends it, on an active node.
func serviceActive(o *Observed, d *Decision) bool {
	status := &d.Status
	if status.ErrorType == metal3.ServicingError && o.Failing() {
		clearError(d) // somebody ended it in Ironic; what is still wished for waits for the next reboot
		d.Again = true
		return true
	}
	if status.OperationalStatus != metal3.OperationalStatusServicing {
		return false
	}
	n, ok := o.knownNode(d)
	if !ok {
		return true
	}
	switch p := o.plan(n); {
	case p.Is == plan.ToLook:
		d.do(readFirmware(n, p.Look))
	case p.Is == plan.Hopeless:
		fail(o, d, metal3.ServicingError, "", p.Problem)
	case p.Is == plan.ToDo && plan.InReboot(o.Host, n.Node()):
		startService(o, d, p.Work)
	default:
		endService(o, d, n, p)
	}
	return true
}

// endService ends servicing. It is complete only if Ironic was seen to carry it out:
// with a machine that runs again before Ironic was asked, it waits for the next reboot.
func endService(o *Observed, d *Decision, n nodeaction.Known, p plan.Plan) {
	d.Status.OperationalStatus = metal3.OperationalStatusOK
	d.Again = true
	switch have := plan.OrderOf(n.Node()); {
	case have.Done(o.Host, n.Node()):
		complete(d)
		d.event("ServicingComplete", "Servicing completed")
	case p.Is == plan.ToDo:
		d.event("ServicingPutOff", "Servicing had not begun, and the machine is in no reboot any more; what is asked for is done in its next one")
	case have.Unknown(o.Host, n.Node(), o.Unasked):
		d.event("ServicingAborted", unknownService)
	case !have.Taken(&o.Host.Status) || !have.Moved(n.Node()):
		d.event("ServicingAborted", nothingToService)
	}
}

// unknownService is why servicing is over of which nobody knows.
const unknownService = "It is not known whether the machine was serviced: Ironflow ended as it asked Ironic for that, and was not there again before the " +
	"machine was at rest. Updates are taken as made; BIOS settings that the machine does not have are written in the next reboot"

// nothingToService is why servicing is given up.
const nothingToService = "Servicing is given up: nothing is asked for any more that the HostUpdatePolicy allows"

// serviceBeforePowerOn begins servicing when a machine that was switched off
// would be switched on again, and reports whether it does.
func serviceBeforePowerOn(o *Observed, d *Decision) bool {
	if o.Node.ProvisionState != ironic.StateActive || !nodespec.InUse(o.Host) {
		return false
	}
	n, ok := o.knownNode(d)
	if !ok {
		return true
	}
	switch p := o.plan(n); p.Is {
	case plan.ToDo:
		if !staysOff(o, d) {
			return true
		}
		d.Status.OperationalStatus = metal3.OperationalStatusServicing
		d.event("ServicingStarted", "Servicing started: "+stepNames(p.Work.Steps))
		d.Again = true
		return true
	case plan.ToLook:
		d.do(readFirmware(n, p.Look))
		return true
	default:
		return false
	}
}

func startService(o *Observed, d *Decision, w plan.Work) {
	carryOutOrder(o, d, ironic.Transition{Target: ironic.TargetService, ServiceSteps: w.Steps})
}

func abortService(o *Observed, d *Decision) {
	target(o, d, ironic.TargetAbort)
	d.event("ServicingAborted", nothingToService)
}

// serviceFailed reports why, and starts again or gives up.
func serviceFailed(o *Observed, d *Decision) {
	leave := func(next func()) {
		if o.Node.Maintenance {
			endMaintenance(o, d)
			return
		}
		next()
	}
	switch {
	case !serviceWished(o):
		leave(func() { abortService(o, d) })
	case toBeOff(o):
		leave(func() { putServiceOff(o, d) })
	default:
		afterFailure(o, d, metal3.ServicingError, func() { leave(func() { serviceAgain(o, d) }) })
	}
}

// putServiceOff gives up servicing that has failed, and that would boot the machine again and leave it on, for
// the machine to be switched off.
func putServiceOff(o *Observed, d *Decision) {
	target(o, d, ironic.TargetAbort)
	why := "Servicing has failed"
	if o.Node.LastError != "" {
		why += ": " + o.Node.LastError
	}
	d.warn("ServicingPutOff", why+". The machine is to be off by now: what is asked for is done when it is switched on again")
}

// serviceAgain asks for the work that is left, once the node holds its order.
func serviceAgain(o *Observed, d *Decision) {
	n, ok := o.knownNode(d)
	if !ok {
		return
	}
	p := o.plan(n)
	key := plan.KeptOffBy(o.Host)
	switch {
	case p.Is == plan.ToLook:
		d.do(readFirmware(n, p.Look))
	case p.Is != plan.ToDo:
		abortService(o, d)
	case key != "":
		d.wait(0, view.Note{
			Step: "not serviced, since the machine would boot", Text: "annotation " + key, WaitingFor: "the client that has set the annotation to remove it",
		})
	case !plan.OrderOf(n.Node()).Same(&p.Work.Order):
		d.do(n.Update(ironic.Desired{Extra: ironic.Fields{plan.KeyOrder: p.Work.Order.Value()}}))
	default:
		d.Status.OperationalStatus = metal3.OperationalStatusServicing
		startService(o, d, p.Work)
	}
}

// toBeOff reports whether the machine is to be off, and may be switched off.
func toBeOff(o *Observed) bool { return !o.Host.Spec.Online && !o.Host.Spec.DisablePowerOff }

// serviceWished reports whether anything is still asked for that the policy allows.
func serviceWished(o *Observed) bool {
	f := allowedFirmware(o)
	return f.Settings != nil && len(f.Settings.Spec.Settings) > 0 || f.Components != nil && len(f.Components.Spec.Updates) > 0
}

// allowedFirmware leaves out the resources of what the policy does not allow on a host in use.
func allowedFirmware(o *Observed) plan.Firmware {
	f := o.Firmware
	if f.Policy.FirmwareSettings != metal3.HostUpdatePolicyOnReboot {
		f.Settings = nil
	}
	if f.Policy.FirmwareUpdates != metal3.HostUpdatePolicyOnReboot {
		f.Components = nil
	}
	return f
}

// serviceNote says which step runs.
func serviceNote(o *Observed) view.Note {
	note := view.Note{Step: "servicing"}
	if s := runningStep(o); !s.IsZero() {
		note.Text = s.Name
	}
	return withProgress(note, told(o))
}

// toBeServiced reports whether servicing is about to be asked for.
func toBeServiced(o *Observed, n nodeaction.Known) bool {
	switch n.ProvisionState {
	case ironic.StateActive:
		return o.Host.Status.OperationalStatus == metal3.OperationalStatusServicing && o.plan(n).Is == plan.ToDo
	case ironic.StateServiceFailed:
		return o.Failing() && serviceWished(o) && !toBeOff(o)
	default:
		return false
	}
}
