package policy

import (
	"fmt"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/trigger"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// Baseline is whether it is known what is on a host's machine. What destroys something,
// or may stop something that runs, is done from a known baseline alone: a status that
// was lost, or is older than what happened to the machine, is no "nothing is on it".
type Baseline int

const (
	// BaselineKnown means that the host's status and its node agree on what is on the machine.
	BaselineKnown Baseline = iota
	// BaselineOfWish means that the status knows of nothing on the machine, but the node
	// holds what the spec asks for: it is taken over as it is.
	BaselineOfWish
	// BaselineUnknown means that the status knows of nothing on the machine, while Ironic
	// holds an instance on its node.
	BaselineUnknown
	// BaselineGone means that the status knows of something on the machine, and that
	// somebody has undeployed, cleaned or deployed the node in Ironic, or that it was given back since.
	BaselineGone
	// BaselineOther means that the status knows of something on the machine, and that Ironic
	// has deployed something else on it, as after a restore from an older backup.
	BaselineOther
	// BaselineUnproven means that the status knows of nothing on the machine, that its node
	// was enrolled in the place of one that is gone, and that the machine is on, or was
	// worked on when the status was written.
	BaselineUnproven
)

// Causes of a machine that runs something that its host's status does not know of, of one
// that may do so, of one whose node holds nothing of what the status says, of one whose
// node holds something else, and of one that is to be installed anew though it is not the one that was.
const (
	causeBaseline   = "UnknownInstance"
	causeUnproven   = "MachineMayBeInUse"
	causeUndeployed = "NodeNotActive"
	causeOther      = "OtherInstance"
	causeMoved      = "MachineChanged"
)

// tornDown are states that the node of a host in use comes into by nobody but somebody who
// deploys, undeploys or cleans it in Ironic.
var tornDown = slices.Concat(deploying, releasing, []ironic.ProvisionState{
	ironic.StateCleanFailed, ironic.StateAvailable, ironic.StateDeployFailed, ironic.StateError,
})

// inUse are Ironic's states of a node that holds an instance.
var inUse = []ironic.ProvisionState{
	ironic.StateActive, ironic.StateServicing, ironic.StateServiceWait, ironic.StateServiceHold, ironic.StateServiceFailed,
	ironic.StateRescuing, ironic.StateRescueWait, ironic.StateRescue, ironic.StateRescueFailed, ironic.StateUnrescuing, ironic.StateUnrescueFailed,
}

// installed are the phases in which a node may hold an instance that is the host's.
var installed = []State{metal3.StateProvisioning, metal3.StateProvisioned, metal3.StateDeprovisioning}

// Baseline compares what the status says of the machine with its node.
func (o *Observed) Baseline() Baseline {
	switch {
	case o.Node == nil:
		return BaselineKnown
	case o.holdsOther():
		return BaselineOther
	case o.adoptedSince() && o.Host.Spec.ExternallyProvisioned: // somebody says so
		return BaselineOfWish
	case o.adoptedSince():
		return BaselineUnknown
	case nodespec.InUse(o.Host):
		return o.baselineInUse()
	case o.mayBeInUse():
		return BaselineUnproven
	case !o.phase().free || !slices.Contains(inUse, o.Node.ProvisionState):
		return BaselineKnown
	case o.Host.Spec.ExternallyProvisioned: // somebody says so
		return BaselineOfWish
	case o.available() && nodespec.WantsInstance(o.Host) && holdsWish(o):
		return BaselineOfWish
	default:
		return BaselineUnknown
	}
}

// mayBeInUse reports a machine that something may be installed on, and that nobody has called
// free since its node was lost. The watch does not keep what is recorded of that on the node: all that would touch
// the machine reads it.
func (o *Observed) mayBeInUse() bool {
	if slices.Contains(inUse, o.Node.ProvisionState) { // which tells more than that
		return false
	}
	if !nodespec.MayBeInUse(o.Host, o.Node, o.knownOff()) && !o.onAndToBeTouched() {
		return false
	}
	if n, read := o.InFull(); read {
		return nodespec.Unproven(n.Node())
	}
	return stalledBy(o, causeUnproven)
}

// adoptedSince reports a host whose status tells of a deployment, and whose node holds what nobody has deployed: what
// had been was given back, and the machine adopted as somebody else's, before the host's status was put back. Whoever
// ends a deployment, or gives one back, reads the node.
func (o *Observed) adoptedSince() bool {
	if o.Node == nil || !slices.Contains(installed, o.State()) || !slices.Contains(inUse, o.Node.ProvisionState) {
		return false
	}
	if n, read := o.InFull(); read {
		return nodespec.AdoptedSince(o.Host, n.Node())
	}
	return stalledBy(o, causeBaseline)
}

// onAndToBeTouched reports a machine that is said to be free, is not known to be off, and is to be inspected,
// prepared, restarted, kept off or switched on. If it may be in use it stays available: it is free once it is off.
func (o *Observed) onAndToBeTouched() bool {
	return o.available() && !o.Deleting() && !o.Host.Spec.ExternallyProvisioned && !o.knownOff() &&
		(o.inspectionAsked() || o.preparingAsked() || len(rebootAnnotations(o.Host)) > 0 || o.Host.Spec.Online && o.saidOff())
}

// keptAsItIs reports a machine that was worked on, and of which somebody says now that what is on it
// is to be kept, be it since it is left alone or before anybody has had a look.
func (o *Observed) keptAsItIs() bool {
	return o.Node != nil && o.Host.Spec.ExternallyProvisioned && nodespec.Worked(o.Host) && !o.Deleting()
}

// calledFree reports that nothing is needed of a machine that was to be left alone: somebody says
// so, or asks for what is on it to go, or it is off, and said to be free, and is to be worked on.
func (o *Observed) calledFree() bool {
	return o.inspectionAskedSince() || o.State() == metal3.StateProvisioned && nodespec.OtherWanted(o.Host) ||
		o.available() && o.knownOff() && (o.inspectionAsked() || o.preparingAsked())
}

// inspectionAskedSince reports whether somebody asks for an inspection who may have read why
// the machine is left alone. One that was asked for before may be of the backup as well.
func (o *Observed) inspectionAskedSince() bool {
	failedWith, known := trigger.RecordOf(o.Host)
	return stalledBy(o, causeUnproven) && known && failedWith[trigger.Inspect] == "" && inspectAgain(o.Host)
}

// baselineInUse is that of a host in use. One that is to be given back needs none; one that
// was ours to deploy until now comes from an available node.
func (o *Observed) baselineInUse() Baseline {
	state, external := o.Node.ProvisionState, o.State() == metal3.StateExternallyProvisioned
	switch {
	case !slices.Contains(tornDown, state) && !o.givenBack():
		return BaselineKnown
	case external && (state == ironic.StateAvailable || !o.Host.Spec.ExternallyProvisioned):
		return BaselineKnown
	case !external && nodespec.OtherWanted(o.Host):
		return BaselineKnown
	default:
		return BaselineGone
	}
}

// givenBack reports whether what the status says to be on the machine was given back since, as its
// node records: whoever adopts a node reads it first.
func (o *Observed) givenBack() bool {
	n, read := o.InFull()
	return o.State() == metal3.StateProvisioned && o.Node.ProvisionState == ironic.StateManageable && read && nodespec.GivenBack(n.Node())
}

// holdsOther reports whether Ironic has deployed something else on a machine than the status
// says of it, or may have: whoever acts by that reads the node first.
func (o *Observed) holdsOther() bool {
	told, inWork := nodespec.Deployed(o.Host), o.State() == metal3.StateProvisioning
	switch {
	case o.Deleting() || !slices.Contains(installed, o.State()) || !slices.Contains(inUse, o.Node.ProvisionState):
		return false
	case told == (nodespec.Wish{}) && o.State() == metal3.StateProvisioned:
		return false
	}
	inWork = inWork || told == (nodespec.Wish{}) // and given back before anything was installed
	n, read := o.InFull()
	if !read { // the watch shows whether it was recorded otherwise; at the end of a deployment it is read anyway
		return !inWork && o.Node.Wish != "" && o.Node.Wish != told.Digest() && (o.Node.Wish != o.Wish || told.Digest() != o.WishTold)
	}
	asked, known := nodespec.RecordedWish(n.Node())
	return known && (nodespec.OfAnotherTime(o.Host, n.Node()) || !inWork && (nodespec.Changed(asked, told) || nodespec.Changed(told, asked)))
}

// holdsWish reports whether it is recorded on a node that it holds what the spec asks for.
func holdsWish(o *Observed) bool {
	asked, known := recordedWish(o)
	return known && asked.Same(nodespec.Wanted(o.Host))
}

// recordedWish is what stands on a node of what it was asked to hold. The watch does not
// keep that.
func recordedWish(o *Observed) (asked nodespec.Wish, known bool) {
	n, read := o.InFull()
	if !read {
		return nodespec.Wish{}, false
	}
	return nodespec.RecordedWish(n.Node())
}

// available reports a host that is ready to be deployed.
func (o *Observed) available() bool {
	return o.State() == metal3.StateAvailable || o.State() == metal3.StateReady
}

// concernBaseline takes over what runs on a machine as the spec says, and leaves a
// machine alone that runs something of which nothing is known.
func concernBaseline(o *Observed, d *Decision) {
	b := o.Baseline()
	_, read := o.InFull()
	switch {
	case b == BaselineKnown && o.keptAsItIs():
		// Nor is it free while the status still says that it is left alone, and that this is what keeps it.
		if n, ok := o.knownNode(d); ok && (nodespec.Unproven(n.Node()) || stalledBy(o, causeUnproven)) {
			enterExternal(o, d)
		}
	case b == BaselineKnown:
	case o.Node.UUID != o.Host.Status.Provisioning.ID:
		nameNode(o, d)
	case b == BaselineOther && !read && stalledBy(o, causeOther) && !o.Retry:
		d.wait(0, otherNote(o))
	case b == BaselineUnproven && !read && o.Retry:
		o.knownNode(d)
	case b == BaselineUnproven: // its node, and how its BMC is reached, is kept as wanted: see concernUnproven
	case o.available() && !read: // the watch does not keep what was deployed
		if stalledBy(o, causeBaseline) && !o.Retry {
			leftRunning(o, d)
			return
		}
		o.knownNode(d)
	case b == BaselineUnknown:
		leftRunning(o, d)
	case b == BaselineGone:
		undeployed(o, d)
	case b == BaselineOther:
		holdingOther(o, d)
	case o.Host.Spec.ExternallyProvisioned && !o.available():
		if slices.Contains(installed, o.State()) {
			forgetInstance(d) // it was given back
		}
		enterExternal(o, d)
	case o.available() && !o.Host.Spec.ExternallyProvisioned:
		enter(o, d, metal3.StateProvisioning) // which ends at once, with what the node holds
	}
}

// enterExternal has the node know that what is on its machine is to be kept, before the status says so: a status of a backup
// would have the machine deployed, as long as the node is not adopted. One that is in use tells by itself.
func enterExternal(o *Observed, d *Decision) {
	if o.Node != nil && !slices.Contains(inUse, o.Node.ProvisionState) {
		n, ok := o.knownNode(d)
		if !ok {
			return
		}
		if want, kept := nodespec.Kept(n.Node()); kept {
			d.do(n.Update(want))
			forgetTold(&d.Status) // so that it is compared once it is adopted, and the record goes
		}
	}
	enter(o, d, metal3.StateExternallyProvisioned) // which counts once the node has taken it
}

// leftRunning says why nothing is done to a machine.
func leftRunning(o *Observed, d *Decision) {
	if !stalledBy(o, causeBaseline) || o.Retry {
		fail(o, d, o.registrationError(), causeBaseline, fmt.Sprintf(
			"node %s in Ironic is %q: something was deployed on this machine (%s) of which the host's status knows nothing, as after a restore "+
				"from an older backup, so the machine is left alone. To keep what runs, set spec.externallyProvisioned; to have the machine "+
				"cleaned, undeploy the node in Ironic", DisplayName(o.Node), o.Node.ProvisionState, instanceText(o)))
	}
	d.wait(0, view.Note{
		Step: "left as it is: something runs on the machine", Text: "node " + string(o.Node.ProvisionState),
		WaitingFor: "somebody to set spec.externallyProvisioned, or to undeploy the node in Ironic",
	})
}

// concernUnproven says why nothing is done to a machine that may be in use. Whether one that
// is said to be free is on may be yet to be learnt.
func concernUnproven(o *Observed, d *Decision) {
	if o.Baseline() != BaselineUnproven {
		return
	}
	worked := nodespec.Worked(o.Host)
	if _, known := poweredOn(o.Node); !known && !worked {
		d.wait(0, view.Note{Step: "power state unknown", Text: o.Node.LastError, WaitingFor: "Ironic to learn from the BMC whether the machine is on"})
		return
	}
	if o.saidOff() && !worked {
		waitForLook(o, d)
		return
	}
	keep := "set spec.externallyProvisioned"
	why, free := "the machine is on, while the host's status (%s) knows of nothing on it", "switch it off by its BMC, or annotate the host with "+names.Inspect
	note := view.Note{
		Step: "left as it is: the machine is on, and may be in use", WaitingFor: "somebody to set spec.externallyProvisioned, to switch the machine off, or to have it inspected",
	}
	if worked {
		why, free = "the host's status (%s) is of when the machine was worked on, which may have ended since", "annotate the host with "+names.Inspect
		note = view.Note{Step: "left as it is: something may be installed on the machine", WaitingFor: "somebody to set spec.externallyProvisioned, or to have it inspected"}
	}
	if asked := o.Host.Annotations[names.Deployed]; asked != "" && worked && o.phase().free {
		why = "the host (now %s) has come without its status, and its annotation " + names.Deployed + " says that something was deployed on the machine"
		if nodespec.WantsInstance(o.Host) && asked == nodespec.Wanted(o.Host).Digest() {
			keep += ", and remove that again once the host is " + string(metal3.StateExternallyProvisioned) + ": what was deployed is what its spec asks for"
		}
	}
	if keys := rebootAnnotations(o.Host); len(keys) > 0 && !worked {
		free += "; to have it left on, remove the annotation " + strings.Join(keys, " and ")
	}
	if inspectAgain(o.Host) && !o.calledFree() {
		free += " anew: take the one away first that is there, which may be of the backup as well"
	}
	if !stalledBy(o, causeUnproven) || o.Retry {
		fail(o, d, metal3.RegistrationError, causeUnproven, fmt.Sprintf(
			why+", and "+formerNode(o)+": after a restore from an older backup something may be on it that nobody "+
				"knows of, so it is left alone. To keep that, %s. If nothing is needed of it, %s", o.State(), DisplayName(o.Node), keep, free))
	}
	d.wait(0, note)
}

// formerNode is what the node of a machine that may be in use tells of that; %s is the node.
func formerNode(o *Observed) string {
	if n, read := o.InFull(); read && nodespec.IsKept(n.Node()) {
		return "node %s in Ironic records that what is on it is to be kept"
	}
	return "its former node is gone from Ironic (now node %s)"
}

// undeployed says what was seen of a machine in use, and that nothing is done to it. To
// adopt it would only hide that what was installed is gone.
func undeployed(o *Observed, d *Decision) {
	state := o.Node.ProvisionState
	again := "remove spec.image and spec.customDeploy, and set them again when the host is available"
	if o.Host.Spec.ExternallyProvisioned {
		again = "install it as it was installed before"
	}
	seen, adopt := "somebody has undeployed, cleaned or deployed it there", "bring the node to manageable in Ironic"
	if o.givenBack() {
		seen, adopt = "what was deployed on it was given back, as is recorded there, and the host's status is of before that, as after a restore from an older backup",
			"remove "+nodespec.KeyBegun+" from the node's extra and annotate the host with "+names.Retry
	}
	text := fmt.Sprintf("node %s is %q in Ironic, though this host is in use: %s. "+
		"What was installed is most likely gone; nothing is done to the machine. To install it again, %s. "+
		"If the machine still runs what it shall, %s: then it is adopted", o.Node.UUID, state, seen, again, adopt)
	if !stalledBy(o, causeUndeployed) || o.Host.Status.ErrorMessage != text {
		fail(o, d, metal3.ProvisionedRegistrationError, causeUndeployed, text)
	}
	d.wait(0, view.Note{Step: "node is " + string(state), WaitingFor: "somebody to install the machine again, or to " + adopt})
}

// holdingOther takes over what the node holds if the spec asks for that, and says otherwise
// why nothing is done to the machine.
func holdingOther(o *Observed, d *Decision) {
	n, ok := o.knownNode(d)
	if !ok {
		return
	}
	asked, _ := nodespec.RecordedWish(n.Node())
	told, wanted := nodespec.Deployed(o.Host), nodespec.Wanted(o.Host)
	if !nodespec.Changed(wanted, asked) {
		if outdated := ours(rebootAnnotations(o.Host)); len(outdated) > 0 {
			d.DropAnnotations, d.Again = outdated, true // of the backup, and not meant for this system
			return
		}
		asked.ToStatus(&d.Status.Provisioning)
		if begun, known := nodespec.RecordedBegin(n.Node()); known {
			d.Status.OperationHistory.Provision.Start = begun
		}
		clearError(d)
		if o.State() != metal3.StateProvisioned {
			enter(o, d, metal3.StateProvisioned)
		}
		d.Again = true
		return
	}
	text := fmt.Sprintf("Ironic has deployed %s on node %s, as is recorded there, and the host's status says that %s is on this machine, as after a "+
		"restore from an older backup: nothing is done to the machine. To keep what runs, set spec.image and spec.customDeploy to what was deployed; "+
		"to have the machine installed anew, undeploy the node in Ironic", asked, DisplayName(o.Node), told)
	if !stalledBy(o, causeOther) || o.Host.Status.ErrorMessage != text {
		fail(o, d, metal3.ProvisionedRegistrationError, causeOther, text)
	}
	d.wait(0, otherNote(o))
}

// otherNote is whom a machine waits for that holds something else than its host's status says.
func otherNote(o *Observed) view.Note {
	return view.Note{
		Step: "left as it is: something else was deployed than the status says", Text: "node " + string(o.Node.ProvisionState),
		WaitingFor: "somebody to set spec.image and spec.customDeploy to what was deployed, or to undeploy the node in Ironic",
	}
}

// instanceText names what a node holds.
func instanceText(o *Observed) string {
	if asked, known := recordedWish(o); known {
		return asked.String()
	}
	return "what it is was not recorded"
}
