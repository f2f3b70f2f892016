package host

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// decide returns the next thing to do for a host. It is pure: the same values
// give the same decision.
//
// A glimpse of the node (what the watch keeps of it) is good enough to wait on,
// never to act on: an action on Ironic or a new phase is put off until the node
// has been read in full. What is recalled of a node that was read before is good
// enough but for what changes the machine, or ends the node.
func decide(o *Observed) *Decision {
	d := decideWith(o)
	choose(o, d)
	d = withinCapacity(o, d)
	if attempts(d.Do) && !d.newlyFailing() {
		clearError(d) // counts once the action is accepted
	}
	if tooVague(o, d) {
		d = decideWith(o)
		d.do(Refresh{})
	}
	return d
}

// tooVague reports a decision that wants a better look at the node first.
func tooVague(o *Observed, d *Decision) bool {
	switch o.Sight {
	case Glimpsed:
		return toIronicWrite(d.Do) || d.Status.Provisioning.State != o.state() || d.newlyFailing()
	case Recalled:
		return onMachine(d.Do) || d.newlyFailing()
	default:
		return false
	}
}

// toIronicWrite reports whether a changes or asks Ironic beyond a look at the node.
func toIronicWrite(a Action) bool {
	if a == nil || !toIronic(a) {
		return false
	}
	switch a.(type) {
	case LookUp, FindOwner, Refresh:
		return false
	}
	return true
}

// newlyFailing reports whether the decision records an error.
func (d *Decision) newlyFailing() bool { return d.Cause != "" }

// choose walks the concerns in their order; the first that has something to do wins.
func choose(o *Observed, d *Decision) {
	for _, concern := range concerns {
		concern(o, d)
		if !d.idle() || d.Wait != (Wait{}) {
			return
		}
	}
}

// concerns is what every pass looks at, in order. The last one is the phase's
// own step, which always has something to say.
var concerns []func(*Observed, *Decision)

func init() {
	concerns = []func(*Observed, *Decision){
		concernHold,
		concernForceDelete,
		concernRestore,
		concernEndpoint,
		concernClaim,
		concernLabels,
		concernHardware,
		concernDeletion,
		concernCredentials,
		concernBackOff,
		concernOwner,
		concernDetach,
		concernStale,
		concernNode,
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
	if o.deleting() && !claimed {
		d.wait(0, view.Note{Step: "released"})
		return
	}
	if !claimed || o.Ironic.Unwritten && !o.deleting() {
		d.do(Claim{Ironic: o.Ironic.Name})
	}
}

// concernLabels has the labels of the live image follow those of the host, also at
// rest: the label of an InfraEnv gives it the agent.
func concernLabels(o *Observed, d *Decision) {
	if o.Image.Unlike && !o.deleting() {
		d.do(LabelImage{})
	}
}

// concernDeletion turns a host that is being deleted towards its end.
func concernDeletion(o *Observed, d *Decision) {
	if !o.deleting() {
		return
	}
	target := o.phase().deleted
	if o.state() == metal3.StateRegistering && o.Node != nil && slices.Contains(examining, o.Node.ProvisionState) {
		target = phases[metal3.StateInspecting].deleted // it was asked for, and that is not stored
	}
	switch {
	case wantsDetach(o.Host) && detachArguments(o.Host).DeleteAction == metal3.DetachedDeleteActionDelay:
		d.count(countDeleteDelayed)
		d.wait(0, view.Note{Step: "detached", WaitingFor: "somebody to attach the host again (the annotation asks to delay its deletion)"})
		return
	case wantsDetach(o.Host):
		target = stateDeleting
	case isDetached(o.Host):
		attach(o, d)
		return
	}
	if target != o.state() {
		d.Status.ErrorCount = 0 // what failed before is no failure of the deletion
		enter(o, d, target)
	}
}

// concernCredentials reports a BMC Secret or address that cannot be used. While
// the host is deleted that is no obstacle: it then counts as "no credentials".
func concernCredentials(o *Observed, d *Decision) {
	state := o.state()
	if o.BMC.Problem == "" || o.deleting() || state == stateNone || state == metal3.StateUnmanaged {
		return
	}
	if !o.failing() || o.Host.Status.ErrorMessage != o.BMC.Problem {
		fail(o, d, metal3.RegistrationError, causeCredentials, o.BMC.Problem)
		d.warn("BMCCredentialError", o.BMC.Problem)
		metric := metricCredInvalid
		if o.BMC.Missing {
			metric = metricCredMissing
		}
		d.count(count{Metric: metric})
	}
	after := waitSecret
	if !o.BMC.Missing {
		after = 0 // a change of the host or of the Secret wakes it
	}
	d.wait(after, view.Note{Step: "reading the BMC credentials", WaitingFor: "a usable Secret and address"})
}

// concernBackOff leaves a failing host alone until its next attempt is due, asked
// for, or pointless because Ironic shows the operation under way again.
func concernBackOff(o *Observed, d *Decision) {
	if !o.failing() {
		return
	}
	if o.Node != nil && owned(o) && slices.Contains(o.phase().running, o.Node.ProvisionState) && !o.overdue() {
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
	if (o.Sight == Glimpsed || o.Sight == Recalled) && o.Node.ProvisionState.Busy() && o.Now.Sub(o.Looked) >= lookAgain {
		d.do(Refresh{})
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
	row, known := phases[o.state()]
	if !known {
		fail(o, d, metal3.RegistrationError, causeUnknownState,
			"the host's state "+quote(string(o.state()))+" is not known to this version: upgrade, or restore the status")
		return
	}
	row.step(o, d)
}
