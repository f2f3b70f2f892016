package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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

// examined is the hardware that has just been found on a host's machine, or that the host was stopped for; nil for
// none. What was found longer ago may be elsewhere by now, and stops nobody; what was found on the machine that a host had
// before its address was corrected says nothing of the one that it has.
func examined(o *Observed) *metal3.HardwareDetails {
	switch {
	case o.State() != metal3.StateInspecting, isMoved(o.Host), o.ofOtherMachine():
	case o.Inventory != nil && !inspectAgain(o.Host) && !o.Host.InspectionDisabled():
		return nodespec.HardwareDetails(o.Inventory)
	case stalledBy(o, causeDouble) && strings.HasPrefix(o.Host.Status.ErrorMessage, foundNIC): // else it was stopped by its address
		return o.Host.Status.HardwareDetails
	}
	return nil
}

// JudgeInventory has the machine of a host be another one's if inspection has found on it what that one boots from: the two may
// have the same BMC by a DNS name and by an IP address, which nothing else shows. Only boot MAC addresses count: other
// interfaces may have the same one on all machines. booting finds the hosts that boot from one of some MAC addresses.
func JudgeInventory(o *Observed, booting func(macs []string) ([]*metal3.BareMetalHost, error)) error {
	hardware := examined(o)
	if hardware == nil || o.Double != (Double{}) {
		return nil
	}
	others, err := booting(nodespec.MACsIn(hardware, o.Host))
	if err != nil || len(others) == 0 {
		return err
	}
	other := slices.MinFunc(others, func(a, b *metal3.BareMetalHost) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	o.Double = doubleByInventory(o.Host, other)
	return nil
}

// foundNIC begins what a host says that is stopped by what inspection has found.
const foundNIC = "inspection has found network interface "

func doubleByInventory(h, other *metal3.BareMetalHost) Double {
	d := Double{Other: other.Namespace + "/" + other.Name}
	who, where := "host "+d.Other, ""
	if other.Namespace != h.Namespace {
		who, where = "a host of another namespace", "; who may list hosts of all namespaces finds the other one by that address, and the controller's log names it"
	}
	d.Why = fmt.Sprintf(foundNIC+"%s on this host's machine, which is the boot MAC address of %s, and one machine has one host: "+
		"correct or delete the host that is wrong%s", strings.ToLower(other.Spec.BootMACAddress), who, where)
	return d
}
