package policy

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// softTimeout is how long a machine gets to shut its system down.
const softTimeout = 180 * time.Second

// stepPower brings the power of a resting host to what is wanted. What is seen is
// saved first; the status then says what is acted upon.
func stepPower(o *Observed, d *Decision) {
	on, known := poweredOn(o.Node)
	if known && on != o.Host.Status.PoweredOn {
		d.Status.PoweredOn = on
		if o.Host.Status.ErrorType == metal3.PowerManagementError {
			clearError(d)
		}
		d.Again = true
		return
	}
	reboot, m := rebootOf(o.Host), MarkOf(o.Host)
	switch {
	case !atRest(o.Node):
		d.wait(0, view.Note{})
	case powerUnknown(o.Node):
		d.wait(0, view.Note{Step: "power state unknown", Text: o.Node.LastError, WaitingFor: "Ironic to learn from the BMC whether the machine is on"})
	case !known:
		d.wait(0, view.Note{Step: "switching power", Text: string(o.Node.TargetPowerState)})
	case m != nil && (m.State != o.Node.ProvisionState || m.Off && !reboot.plain):
		dropMark(d) // of an operation that is over, or of a restart that nobody asks for any more
	case m != nil && !m.Off:
		restart(o, d, *m)
	case o.Node.TargetPowerState != "":
		waitForPower(o, d)
	case reboot.asked && !on && reboot.once:
		if staysOff(o, d) {
			restarted(d, m)
		}
	case o.Host.Spec.Online && !reboot.asked && !on:
		if mediaSettled(o, d, false) && !serviceBeforePowerOn(o, d) {
			switchPower(o, d, ironic.PowerOn)
		}
	case on && reboot.once && (m != nil || !o.Host.Spec.DisablePowerOff):
		offOnce(o, d, reboot, m)
	case on && (reboot.asked || !o.Host.Spec.Online):
		if !neverOff(o, d, reboot) {
			switchOff(o, d, reboot)
		}
	default:
		if !lookAtPower(o, d, on) {
			asWanted(o, d)
		}
	}
}

const (
	// powerLookGap is between two looks at a machine's power that events cause.
	powerLookGap = 10 * time.Second
	// powerLookTime is how long after one the node is watched for what came of it, and
	// powerLookEvery how often.
	powerLookTime  = 6 * time.Second
	powerLookEvery = 2 * time.Second
)

// LookingAtPower reports a node that is watched for what came of such a look.
func (o *Observed) LookingAtPower() bool { return o.Now.Sub(o.PowerLooked) < powerLookTime }

// lookAtPower has Ironic look at a machine whose BMC has told of its power, and reports
// whether there is something to do for that. Ironic itself looks once a minute as a rule.
func lookAtPower(o *Observed, d *Decision, on bool) bool {
	wanted, since := ironic.PowerOff, o.Now.Sub(o.PowerLooked)
	if on {
		wanted = ironic.PowerOn
	}
	switch {
	case o.Failing(), !on && o.Host.Spec.DisablePowerOff:
		return false
	case o.PowerTold && since < powerLookGap:
		complete(d)
		d.wait(powerLookGap-since, view.Note{})
	case o.PowerTold:
		n, ok := o.knownNode(d)
		if ok && !on && nodespec.Unproven(n.Node()) {
			return false // Ironic would switch off what has come on by itself, and is to be left alone
		}
		if ok {
			d.do(n.LookAtPower(wanted))
		}
	case o.LookingAtPower():
		complete(d)
		d.wait(powerLookEvery, view.Note{})
	default:
		return false
	}
	return true
}

// staysOff reports whether a machine that is seen off was seen so just now, with
// nobody at work on it: a request to switch it on may have been taken that its node
// does not show yet. What follows from a machine that is off is not begun before.
func staysOff(o *Observed, d *Decision) bool {
	_, read := o.readNode(d)
	switch {
	case !read:
	case o.Node.Reservation != "":
		d.wait(WaitBusy, view.Note{Step: "switching power", WaitingFor: "whoever holds the node in Ironic"})
	default:
		return true
	}
	return false
}

// waitForPower waits for the end of a change of power.
func waitForPower(o *Observed, d *Decision) {
	d.wait(lookAgain, view.Note{Step: "switching power", Text: string(o.Node.TargetPowerState)})
}

// asWanted ends the pass of a host whose node and power are as the spec says: what
// failed before is over, and so is its count.
func asWanted(o *Observed, d *Decision) {
	settle(o, d)
	d.wait(0, wishNote(o))
}

// settle ends what failed before on a host of which nothing is left to be done.
func settle(o *Observed, d *Decision) {
	if o.Failing() {
		clearError(d)
	}
	complete(d)
}

// wishNote says what a wish waits for that is carried out while the machine is off, on a
// host whose machine is not to be switched off.
func wishNote(o *Observed) view.Note {
	if !o.Host.Spec.DisablePowerOff || !nodespec.InUse(o.Host) || !plan.FirmwareChanged(allowedFirmware(o)) {
		return view.Note{}
	}
	return view.Note{
		Step: "firmware changes wait", Text: "they are made while the machine is off, and spec.disablePowerOff is set",
		WaitingFor: "somebody to allow power-off and to reboot the host, or to take the wish back",
	}
}

// poweredOn reads the node's power; known is false for anything but on and off.
func poweredOn(n *ironic.Row) (on, known bool) {
	switch n.PowerState {
	case ironic.PowerOn:
		return true, true
	case ironic.PowerOff:
		return false, true
	default:
		return false, false
	}
}

// powerUnknown reports a node at rest of which Ironic does not know whether it is on,
// and that it does not switch either.
func powerUnknown(n *ironic.Row) bool {
	_, known := poweredOn(n)
	return !known && n.TargetPowerState == "" && atRest(n)
}

// powerMoved reports whether a machine is seen on or off that the status has off or on.
func powerMoved(o *Observed) bool {
	if o.Node == nil {
		return false
	}
	on, known := poweredOn(o.Node)
	return known && on != o.Host.Status.PoweredOn
}

// fulfilled reports whether a power request shows in the node.
func fulfilled(n *ironic.Row, asked ironic.PowerState) bool {
	on, known := poweredOn(n)
	switch asked {
	case ironic.PowerOn:
		return known && on
	case ironic.PowerOff, ironic.PowerSoftOff:
		return known && !on
	default:
		return true
	}
}

// switchOff powers a running machine off, softly where that is asked for and has
// not failed before.
func switchOff(o *Observed, d *Decision, r reboot) {
	target := ironic.PowerOff
	if r.asked && !r.hard && o.Host.Status.ErrorCount == 0 && !o.SoftRefused {
		target = ironic.PowerSoftOff
	}
	switchPower(o, d, target)
	if _, asking := d.Do.(nodeaction.Power); asking && r.problem != "" {
		d.warn("InvalidAnnotationValue", r.problem)
	}
}

// switchPower asks for a power state, unless that is under way. A request of ours
// that ended with an error is reported.
func switchPower(o *Observed, d *Decision, target ironic.PowerState) {
	n := o.Node
	if n.TargetPowerState != "" {
		waitForPower(o, d)
		return
	}
	cutOff := target != ironic.PowerOn && strings.Contains(n.LastError, "aborted")
	if o.PowerAsked == target && n.LastError != "" && !o.Failing() && !cutOff {
		fail(o, d, metal3.PowerManagementError, "", "Ironic could not do "+strconv.Quote(string(target))+": "+n.LastError)
		return
	}
	request := ironic.PowerRequest{Target: target}
	if target == ironic.PowerSoftOff {
		request.Timeout = softTimeout
	}
	power(o, d, request)
	reason, label := "PowerOff", "off"
	if target == ironic.PowerOn {
		reason, label = "PowerOn", "on"
	}
	d.event(reason, "Host is asked to do: "+string(target))
	d.count(Count{MetricPowerChange, []string{label}})
}

// reboot is what the reboot annotations of a host ask for together.
type reboot struct {
	// asked is true while any counts: the machine is to be off.
	asked bool
	// plain is true when one restart is asked for, by the annotation without a key.
	plain bool
	// once is true when the plain annotation is the only one: it goes once the
	// machine is off.
	once bool
	// hard is true when any asks for it.
	hard bool
	// problem names a value that could not be read.
	problem string
}

// rebootOf reads the annotations of a host at rest. Only those with force count where
// nothing is in use.
func rebootOf(h *metal3.BareMetalHost) reboot {
	var r reboot
	counting := ForcedReboots(h)
	if nodespec.InUse(h) {
		counting = rebootAnnotations(h)
	}
	keyed := false
	for _, key := range counting {
		value := h.Annotations[key]
		r.asked = true
		r.plain = r.plain || key == names.Reboot
		keyed = keyed || key != names.Reboot
		var args metal3.RebootAnnotationArguments
		if value != "" && json.Unmarshal([]byte(value), &args) != nil {
			r.problem = "the value of annotation " + key + " is not the JSON that is expected; a soft reboot is assumed"
		}
		r.hard = r.hard || args.Mode == metal3.RebootModeHard
	}
	r.once = r.plain && !keyed
	return r
}
