package policy

import (
	"slices"
	"strconv"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Decide returns the next thing to do for a host. It is pure: the same values
// give the same decision.
//
// A summary of the node (the fields that the watch keeps) is good enough to wait on,
// never to act on: an action on Ironic or a new phase waits until the node has been
// read in full. A node that was read in full before is good enough for all but what
// changes the machine, or ends the node. The types of package nodeaction see to it.
func Decide(o *Observed) *Decision {
	d := decideWith(o)
	choose(o, d)
	d = withinCapacity(o, d)
	if attempts(d.Do) && !d.NewlyFailing() {
		clearError(d) // counts once the action is accepted
	}
	if looking(d) || tooVague(o, d) {
		d = decideWith(o)
		d.do(Refresh{})
	}
	return d
}

// ToIronicWrite reports whether a changes or asks Ironic beyond a look at the node.
func ToIronicWrite(a Action) bool {
	if a == nil || !ToIronic(a) {
		return false
	}
	switch a.(type) {
	case LookUp, LookAtBMC, nodeaction.FindOwner, Refresh:
		return false
	}
	return true
}

// NewlyFailing reports whether the decision records an error.
func (d *Decision) NewlyFailing() bool { return d.Cause != "" }

// choose walks the concerns in their order; the first that has something to do wins.
func choose(o *Observed, d *Decision) {
	for _, concern := range concerns {
		concern(o, d)
		if !d.idle() || d.Wait != (Wait{}) {
			return
		}
	}
}

// concerns is what every pass looks at, in order: the first that has something to do
// wins. It is filled in by init, because steps refer to the table themselves.
var concerns []func(*Observed, *Decision)

func init() {
	concerns = []func(*Observed, *Decision){
		// First: whoever keeps a host off wants nothing done, whatever else is asked for.
		concernHold,
		// The way out of everything below: it needs no Ironic, no BMC and no readable status.
		concernForceDelete,
		// Likewise, and before the finalizer, which would hold a host up that is elsewhere now.
		concernMoved,
		// Before anything is done in the world: without its status, a host that was moved
		// here looks like a new one, and its machine would be taken for a free one.
		concernRestore,
		// Before the claim, which writes the choice down, and before all that asks an Ironic.
		concernEndpoint,
		// The finalizer is on before the first thing that somebody has to undo.
		concernClaim,
		// Before everything that may wait: it comes along with a host that is moved while it is detached or failing.
		concernDeployed,
		// Likewise: before the order goes by which updates were made, and before the object goes that shows them.
		concernUpdates,
		// Likewise: the labels of the live image follow those of the host also while it is failing or has no usable BMC.
		concernLabels,
		// Before everything that needs BMC or node: this needs neither.
		concernHardware,
		// Before the deletion, which may switch a machine off: it has to be the host's own.
		concernDouble,
		// Before the credentials and the back-off: the wish to delete leads to another phase,
		// for which neither of them is an obstacle.
		concernDeletion,
		// Before the credentials and the back-off: a host without a node needs neither.
		concernDetached,
		// Before the back-off: a Secret that is missing or mended shows at once.
		concernCredentials,
		// Before everything that asks Ironic: a failing host leaves it alone until it is due.
		concernBackOff,
		// Before everything that changes a node: it has to be known as the host's.
		concernOwner,
		// Before the node goes, or another one comes: what it says of its machine is kept.
		concernMachine,
		// Before the node is enrolled or kept as wanted: a detached host has none.
		concernDetach,
		// Before the former node goes, and before another one is enrolled, adopted and given what is asked for.
		concernMovedInUse,
		// Before what the node says of a machine is taken for what is so of the host's.
		concernOtherMachine,
		// Before the node is compared, and before all that touches the machine: one that runs
		// something that the status does not know of is no free one.
		concernBaseline,
		// Before the node is compared, which may wait for a live image: nothing is to be cleaned any more.
		concernTakenBack,
		// Before the node is compared: a summary that is too old is read again first.
		concernStale,
		// Before the step, which relies on a node that is verified and as the phase wants it.
		concernNode,
		// After the node, so that Ironic reaches the BMC and sees a machine that somebody
		// switches off, and before the step, which may touch one that runs something.
		concernUnproven,
		// Last: the phase's own step always has something to say.
		concernStep,
	}
}

// concernHold leaves a held host alone, whatever it is doing.
func concernHold(o *Observed, d *Decision) {
	if key := reconcile.KeptOff(o.Host); key != "" {
		d.wait(0, view.Note{Step: "on hold", WaitingFor: "somebody to remove the annotation " + key})
	}
}

// concernClaim puts the host's finalizer on before anything happens in the world.
func concernClaim(o *Observed, d *Decision) {
	claimed := slices.Contains(o.Host.Finalizers, names.HostFinalizer)
	if o.Deleting() && !claimed {
		d.wait(0, view.Note{Step: "released"})
		return
	}
	if !claimed || o.Ironic.Unwritten && !o.Deleting() {
		d.do(Claim{Ironic: o.Ironic.Name})
	}
}

// concernUpdates has the host's status keep which firmware updates its machine has: the object that
// shows them may be made anew at any time.
func concernUpdates(o *Observed, d *Decision) {
	if !o.Deleting() && firmware.Record(&d.Status, o.Firmware.Components, o.Host.Generation, o.Now) {
		d.Again = true
	}
}

// concernLabels has the labels of the live image follow those of the host, also at
// rest: the label of an InfraEnv gives it the agent.
func concernLabels(o *Observed, d *Decision) {
	if o.Image.Unlike && !o.Deleting() {
		d.do(LabelImage{})
	}
}

// concernDeletion turns a host that is being deleted towards its end.
func concernDeletion(o *Observed, d *Decision) {
	if !o.Deleting() {
		return
	}
	target := o.phase().deleted
	if o.State() == metal3.StateRegistering && o.Node != nil && slices.Contains(examining, o.Node.ProvisionState) {
		target = phases[metal3.StateInspecting].deleted // it was asked for, and that is not stored
	}
	if o.Host.Spec.ExternallyProvisioned && o.State() == metal3.StateProvisioned {
		target = phases[metal3.StateExternallyProvisioned].deleted
	}
	switch {
	case WantsDetach(o.Host) && detachArguments(o.Host).DeleteAction == metal3.DetachedDeleteActionDelay:
		d.count(CountDeleteDelayed)
		d.wait(0, view.Note{Step: "detached", WaitingFor: "somebody to attach the host again (the annotation asks to delay its deletion)"})
		return
	case WantsDetach(o.Host):
		target = StateDeleting
	case isDetached(o.Host):
		attach(o, d)
		return
	case target != metal3.StateDeprovisioning:
	case stalledBy(o, causeUnproven):
		target = deletedUncleaned(d, "it was left alone, since something may be on it that nobody knows of. To have a machine cleaned, annotate the host with "+names.Inspect)
	case seenFirst(o, d):
		return
	case o.adoptedSince():
		target = deletedUncleaned(d, "what this host had on it was given back, as is recorded on node "+DisplayName(o.Node)+
			" in Ironic, and what runs was adopted since. To have a machine cleaned, undeploy its node in Ironic")
	}
	if target != o.State() {
		d.Status.ErrorCount = 0 // what failed before is no failure of the deletion
		enter(o, d, target)
	}
}

// concernCredentials reports a BMC Secret or address that cannot be used. While
// the host is deleted that is no obstacle: it then counts as "no credentials". Nor is it
// while the host is detached: Ironic lets go of a node without asking its BMC.
func concernCredentials(o *Observed, d *Decision) {
	state := o.State()
	if o.BMC.Problem == "" || o.Deleting() || Detaching(o) || state == StateNone || state == metal3.StateUnmanaged {
		return
	}
	if !o.Failing() || o.Host.Status.ErrorMessage != o.BMC.Problem {
		fail(o, d, metal3.RegistrationError, causeCredentials, o.BMC.Problem)
		d.warn("BMCCredentialError", o.BMC.Problem)
		metric := MetricCredInvalid
		if o.BMC.Missing {
			metric = MetricCredMissing
		}
		d.count(Count{Metric: metric})
	}
	after := waitSecret
	if !o.BMC.Missing {
		after = 0 // a change of the host or of the Secret wakes it
	}
	d.wait(after, view.Note{Step: "reading the BMC credentials", WaitingFor: "a usable Secret and address"})
}

// concernBackOff leaves a failing host alone until its next attempt is due, asked
// for, or pointless because Ironic shows the operation under way again. To let go of the
// node is no further attempt: that has a back-off of its own.
func concernBackOff(o *Observed, d *Decision) {
	if !o.Failing() || Detaching(o) {
		return
	}
	if o.Node != nil && owned(o) && slices.Contains(o.phase().running, o.Node.ProvisionState) && !o.Overdue() {
		clearError(d)
		d.Again = true
		return
	}
	if o.Retry {
		d.Status.ErrorCount = 0 // somebody asks, or has changed something: a new start
		forgetFailedDeployments(d)
	}
	due := nextAttempt(o)
	switch {
	case o.mayTryNow():
	case failedToDelete(o): // there is no further attempt to wait for
	case stalledBy(o, causeGivenUp):
		d.wait(0, view.Note{Step: "given up", WaitingFor: "somebody to remove the cause and ask for another attempt"})
	case o.Now.Before(due):
		d.waitNextAttempt(due.Sub(o.Now))
	}
}

// concernStale looks at a node again that has been believed for long enough.
func concernStale(o *Observed, d *Decision) {
	if o.Node != nil && o.Node.ProvisionState.Busy() && o.Now.Sub(o.Looked) >= lookAgain {
		o.readNode(d)
	}
}

// concernNode finds or enrols the node and keeps it as the phase wants it.
func concernNode(o *Observed, d *Decision) {
	if o.phase().node {
		ensureNode(o, d)
	}
}

// concernStep is the phase's own step.
func concernStep(o *Observed, d *Decision) {
	row, known := phases[o.State()]
	if !known {
		fail(o, d, metal3.RegistrationError, causeUnknownState,
			"the host's state "+strconv.Quote(string(o.State()))+" is not known to this version: upgrade, or restore the status")
		return
	}
	row.step(o, d)
}
