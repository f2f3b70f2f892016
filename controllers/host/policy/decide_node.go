package policy

import (
	"reflect"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// NodeInput is what the fields of the host's node follow from.
func (o *Observed) NodeInput() nodespec.Input {
	in := nodespec.Input{
		Host: o.Host, Settings: o.Settings.Settings, BMC: o.BMC, Image: o.Image,
		NetworkData: o.NetworkData, Hardware: o.Hardware, NewCredentials: NewCredentials(o),
		LeftAlone:  stalledBy(o, causeBaseline) || stalledBy(o, causeUnproven),
		SeenAtWork: o.seenAtWork(), CalledFree: o.calledFree(), KnownOff: o.knownOff(),
	}
	if o.PullSecret != nil {
		in.PullSecret = o.PullSecret.Value
	}
	return in
}

// desired is what the host's node shall look like, with the order of the work that
// Ironic is about to be asked for.
func desired(o *Observed, n nodeaction.Known) ironic.Desired {
	in := o.NodeInput()
	in.Node, in.NameImage = n.Node(), namesImage(o, n)
	in.DefaultDeploy = o.Applied != nil && slices.Contains(o.Applied.ResetInterfaces, "deploy")
	d := nodespec.Desired(in)
	_, read := o.AsRead()
	plan.AddOrder(o.planInput(n), read, &d)
	return d
}

// nameNode has the status name the host's node. One that names another node is of before this
// one, be it of a backup: the node is to know of that first, whatever has been seen of it since.
func nameNode(o *Observed, d *Decision) {
	if doubted(o, d) {
		return
	}
	if o.Host.Status.Provisioning.ID != "" {
		forgetTold(&d.Status)
	}
	d.Status.Provisioning.ID = o.Node.UUID
	d.Again = true
}

// doubted has a node know that the host's status is of before it, and reports whether there is
// something to do for that. One that holds an instance tells by itself what is on its machine, and nothing is
// needed of the machine of a host that is being deleted.
func doubted(o *Observed, d *Decision) bool {
	state := o.Node.ProvisionState
	if o.Host.Status.Provisioning.ID == "" && !nodespec.Arrived(o.Host) || o.Deleting() || slices.Contains(inUse, state) {
		return false
	}
	if state.Busy() && state != ironic.StateVerifying { // it takes no update
		d.wait(lookAgain, view.Note{Step: "waiting to take the node over", Text: "node " + string(state), WaitingFor: "Ironic to end what it is doing"})
		return true
	}
	n, ok := o.knownNode(d)
	if !ok {
		return true
	}
	in := o.NodeInput()
	in.Node = n.Node()
	want, doubtful := nodespec.Doubt(in)
	if doubtful {
		d.do(n.Update(want))
		doubtMachine(o, d)
	}
	return doubtful
}

// machineCondition is on every host that has had a node: its message is which machine that was of, as the node keeps it. What the
// status says of a machine, such as that it is on, is of this one: the address may be changed at any time, and the node be lost.
// Its reason tells whether the machine of a free host may be in use, as its node records, which may be lost, too.
const machineCondition = nodespec.MachineCondition

// reasonOfNode is its reason where the node records nothing of that, beside [nodespec.ReasonDoubt].
const reasonOfNode = "OfItsNode"

// RecordedMachine is the machine that the host's last node was of, as a node keeps it; empty where that is not known.
func RecordedMachine(s *metal3.BareMetalHostStatus) string {
	if c := meta.FindStatusCondition(s.Conditions, machineCondition); c != nil {
		return c.Message
	}
	return ""
}

// recordMachine has the status keep a machine, and whether it may be in use though the host is free.
func recordMachine(o *Observed, d *Decision, machine string, doubt bool) {
	says := reasonOfNode
	if doubt {
		says = nodespec.ReasonDoubt
	}
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: machineCondition, Status: metav1.ConditionTrue, Reason: says, Message: machine,
		ObservedGeneration: o.Host.Generation, LastTransitionTime: metav1.NewTime(o.Now).Rfc3339Copy(),
	})
}

// isMoved reports a host that was given another machine, and has had no node there yet.
func isMoved(h *metal3.BareMetalHost) bool {
	row := ironic.Row{Machine: RecordedMachine(&h.Status), ProvisionState: ironic.StateAvailable}
	return nodespec.OfOtherMachine(h, &row, nil)
}

// concernMachine has the status keep which machine the host has, by its node's own word, and forget what it says of the one that
// the host had before. Both are stored before a node goes.
func concernMachine(o *Observed, d *Decision) {
	recorded, machine, doubt := RecordedMachine(&o.Host.Status), o.machineOfNode(), nodespec.InDoubt(&o.Host.Status)
	switch {
	case machine != "" && recorded == "":
		recordMachine(o, d, machine, o.nodeDoubts(doubt))
		d.Again = true
	case o.available() && !doubt && (isMoved(o.Host) || o.ofOtherMachine()): // the latter alone of a backup's status
		recordMachine(o, d, recorded, true) // that this one is on does not say that nobody uses it
		d.Again = true
	case isMoved(o.Host) && o.madeForOther() && doubted(o, d): // the node knows it before it is given the other one's BMC
	case machine == "" || o.ofOtherMachine():
	case machine != recorded, o.nodeDoubts(doubt) != doubt:
		recordMachine(o, d, machine, o.nodeDoubts(doubt))
		d.Again = true
	}
}

// nodeDoubts is what the host's node says of its machine: that it may be in use; what was known of that, if it was not read.
func (o *Observed) nodeDoubts(known bool) bool {
	n, read := o.InFull()
	if !read {
		return known
	}
	return nodespec.Unproven(n.Node())
}

// concernMovedInUse has no machine installed anew, nor cleaned, because another one was installed: what is asked for beside another
// address may be meant for the former machine, and nobody knows what is on the other one. Asked for once the host has its node, it counts.
func concernMovedInUse(o *Observed, d *Decision) {
	switch held := o.State() == metal3.StateProvisioned && isMoved(o.Host) && nodespec.OtherWanted(o.Host) && !o.Deleting() && !Detaching(o); {
	case held:
		text := "spec.bmc.address names another machine than the one that has " + nodespec.Deployed(o.Host).String() + ", and the spec asks for something else: nothing is done to either machine. " +
			"If it is the same machine, or the other one may be installed anew, set spec.image and spec.customDeploy back to what was deployed, and change them once the host has its node and no error; otherwise set the address back"
		if !stalledBy(o, causeMoved) || o.Host.Status.ErrorMessage != text {
			fail(o, d, metal3.ProvisionedRegistrationError, causeMoved, text)
		}
		d.wait(0, view.Note{Step: "left as it is: the host has another machine than the one that was installed", WaitingFor: "somebody to set spec.image and spec.customDeploy, or the address, back"})
	case stalledBy(o, causeMoved):
		clearError(d)
		d.Again = true
	}
}

// machineOfNode is which machine the host's node is of; empty where that is not known, or its BMC has not answered yet.
func (o *Observed) machineOfNode() string {
	if o.Node == nil || o.Node.UUID != o.Host.Status.Provisioning.ID || o.unverified() {
		return ""
	}
	n, _ := o.InFull()
	return nodespec.MachineOf(o.Node, n.Node())
}

// unverified reports a node whose BMC has not answered yet.
func (o *Observed) unverified() bool {
	return o.Node != nil && (o.Node.ProvisionState == ironic.StateEnroll || o.Node.ProvisionState == ironic.StateVerifying)
}

// madeForOther reports a node whose BMC has not answered yet, and that was made for another machine than the host has.
func (o *Observed) madeForOther() bool {
	if !o.unverified() {
		return false
	}
	row := *o.Node
	row.ProvisionState = ironic.StateAvailable
	n, _ := o.InFull()
	return nodespec.OfOtherMachine(o.Host, &row, n.Node())
}

// doubtMachine has the status know that the machine of a free host may be in use, as its node is about to: that is not verified
// yet, and may be lost before it is, and what made it doubtful, such as the error of a host that is left alone, is over then.
func doubtMachine(o *Observed, d *Decision) {
	if o.available() {
		recordMachine(o, d, RecordedMachine(&d.Status), true)
	}
}

// otherMachineReason is what a node says while it is removed because its host has another machine.
const otherMachineReason = "the host has another BMC"

// concernOtherMachine has a host's node be one of the host's machine. Given another one's BMC, a node would keep the power
// state of the former, and what was deployed there; and Ironic, which has a machine follow what it knows of its power,
// could switch the other one off. So it goes as that of a host which is detached, and the host gets another node, whose
// power Ironic reads before anything else. No machine is touched.
func concernOtherMachine(o *Observed, d *Decision) {
	switch {
	case !o.phase().node || !o.ofOtherMachine() && (!o.Deleting() || !isMoved(o.Host)):
	case o.Deleting():
		d.warn("NodeOfAnotherMachine", "the host is deleted without touching a machine: its node in Ironic, or the last one that it had, is of another BMC than the host says")
		enter(o, d, StateDeleting)
	case inMaintenance(o, d):
	case otherNode(o, d): // before the first one goes
	case o.Host.Status.Provisioning.ID == "" && o.nodeTellsOfUse():
		nameNode(o, d) // nobody else tells that the host is no new one: what its machine runs is left alone
	default:
		removeNode(o, d, otherMachineReason)
		if _, removes := d.Do.(nodeaction.Remove); removes {
			d.event("NodeReplaced", "spec.bmc.address names another machine than that of the host's node in Ironic: the node was removed, and another one is enrolled; no machine is touched")
		}
	}
}

// nodeTellsOfUse reports a node by which its machine is in use, or may be. Whoever removes a node reads it first.
func (o *Observed) nodeTellsOfUse() bool {
	n, read := o.InFull()
	return slices.Contains(inUse, o.Node.ProvisionState) || read && nodespec.Unproven(n.Node())
}

// ofOtherMachine reports whether the host's node is of another machine than the host says.
func (o *Observed) ofOtherMachine() bool {
	if o.Node == nil {
		return false
	}
	n, _ := o.InFull()
	return nodespec.OfOtherMachine(o.Host, o.Node, n.Node())
}

// driverReason is what a node says while its driver is changed.
const driverReason = "Ironflow changes the driver"

// newestHardware is what is known of the machine: the inspection's result, if it was
// read and is yet to be stored.
func newestHardware(o *Observed) *metal3.HardwareDetails {
	if o.Inventory != nil {
		return nodespec.HardwareDetails(o.Inventory)
	}
	return o.Hardware
}

// sameDesired compares what a node was brought to with what it shall be. Secrets
// that were sent count as equal.
func sameDesired(applied, want ironic.Desired) bool {
	applied.SendSecrets = want.SendSecrets
	return reflect.DeepEqual(applied, want)
}
