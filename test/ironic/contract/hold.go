package contract

import (
	"net/http"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/ironic"
)

// note changes a field that means nothing to Ironic.
func (w *World) note(n *ironic.Node) error {
	_, _, err := w.Gateway.Update(w.T.Context(), n, ironic.Desired{Extra: ironic.Fields{"note": w.Name()}})
	return err
}

// ask asks for a transition and does not wait for what comes of it.
func (w *World) ask(n *ironic.Node, t ironic.Transition) {
	w.T.Helper()
	w.Accepted(func() error { return w.Gateway.Transition(w.T.Context(), n.UUID, t) })
}

// refuses asks for verbs that are out of place: Ironic takes none of them.
func (w *World) refuses(uuid string, verbs []ironic.Target) {
	w.T.Helper()
	for _, verb := range verbs {
		t := ironic.Transition{Target: verb}
		switch verb {
		case ironic.TargetClean:
			t.CleanSteps = []ironic.Step{step(nil)}
		case ironic.TargetService:
			t.ServiceSteps = []ironic.Step{step(nil)}
		default:
		}
		mark := w.Recorder.mark()
		_ = w.Gateway.Transition(w.T.Context(), uuid, t) // the gateway may know that it was taken before
		w.Expect(w.Recorder.answers(mark, provision[0])).To(And(Not(BeEmpty()), HaveEach(Or(Equal(http.StatusBadRequest), Equal(http.StatusConflict)))), string(verb))
	}
}

// holds looks at a node that rests or waits in a state: the state is the home of
// all wishes that the table leaves out. The node must stay there, or go on to one
// of the following states only.
func (w *World) holds(n *ironic.Node, following ...ironic.ProvisionState) {
	w.T.Helper()
	state := n.ProvisionState
	w.held.add(state)
	w.visited.add(state)
	w.refuses(n.UUID, outOfPlace(append(following, state)...))
	if state.Waiting() && state != ironic.StateInspectWait {
		w.Expect(ironic.KindOf(w.note(n))).To(Equal(ironic.Busy), "fields cannot be changed")
	} else {
		w.Accepted(func() error { return w.note(n) })
	}
	if !removable[state] {
		// A heartbeat locks the node for a moment.
		w.Eventually(func() error { return w.Gateway.Delete(w.T.Context(), n.UUID) }, w.Patience, w.Look).Should(
			HaveField("Kind", ironic.Rejected), "in use, and not in maintenance")
	}
	if len(following) > 0 {
		return
	}
	after, err := w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(after.ProvisionState).To(Equal(state), "nothing was begun")
	w.Expect(after.Maintenance).To(Equal(n.Maintenance))
}

// removable are the states in which Ironic removes a node that is not in
// maintenance.
var removable = map[ironic.ProvisionState]bool{
	ironic.StateEnroll: true, ironic.StateManageable: true, ironic.StateAvailable: true, ironic.StateAdoptFailed: true,
}

// fixed checks that the interfaces of a node in this state cannot be changed.
func (w *World) fixed(n *ironic.Node) {
	w.T.Helper()
	_, _, err := w.Gateway.Update(w.T.Context(), n, ironic.Desired{Interfaces: ironic.Interfaces{Inspect: "redfish"}})
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Rejected), "%v", err)
	w.Expect(err).To(MatchError(ContainSubstring("in one of allowed")))
}

// release removes a node, whatever its state, as a host is detached or deleted.
func (w *World) release(n *ironic.Node) {
	w.T.Helper()
	if !removable[n.ProvisionState] {
		w.Accepted(func() error { return w.Gateway.SetMaintenance(w.T.Context(), n.UUID, true, "detached") })
	}
	w.Accepted(func() error { return w.Gateway.Delete(w.T.Context(), n.UUID) })
	_, err := w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "%v", err)
}

// atWork asks for a transition and looks at the node while the conductor works on
// it: the request counts as taken when it is repeated, other verbs are refused, and
// a change of the node's fields is answered busy, with a text. Ironic itself waits
// some seconds for a lock, so that the change may also be made: then the conductor
// had finished. The following states are those that the node may be in by then.
func (w *World) atWork(n *ironic.Node, t ironic.Transition, state ironic.ProvisionState, following ...ironic.ProvisionState) {
	w.T.Helper()
	w.ask(n, t)
	w.held.add(state)
	w.visited.add(state)
	again := w.Gateway.Transition(w.T.Context(), n.UUID, t)
	w.Expect(again).To(Or(Succeed(), HaveField("Kind", ironic.Busy)), "asked again")
	w.refuses(n.UUID, outOfPlace(append(following, state)...))
	err := w.note(n)
	if err == nil {
		after, err := w.Gateway.Get(w.T.Context(), n.UUID)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(after.ProvisionState).NotTo(Equal(state), "changed while the conductor holds it")
		return
	}
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Busy), "%v", err)
	w.Expect(err).To(MatchError(Or(ContainSubstring("is locked by"), ContainSubstring("state transition is in progress"),
		ContainSubstring("while it is in state"))))
}

func verifying(w *World) {
	n, _ := w.Enrol()
	w.atWork(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateVerifying, ironic.StateManageable)
	w.Until(n.UUID, ironic.StateManageable)
}

func inspecting(w *World) {
	n := w.Manageable()
	w.atWork(n, ironic.Transition{Target: ironic.TargetInspect}, ironic.StateInspecting, ironic.StateInspectWait, ironic.StateManageable)
	w.Until(n.UUID, ironic.StateManageable)
}

func cleaning(w *World) {
	n := w.Manageable()
	t := ironic.Transition{Target: ironic.TargetClean, CleanSteps: []ironic.Step{step(nil)}}
	w.atWork(n, t, ironic.StateCleaning, ironic.StateCleanWait, ironic.StateManageable)
	w.Until(n.UUID, ironic.StateManageable)
}

func deploying(w *World) {
	n := w.Available()
	t := ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(nil)}
	w.atWork(n, t, ironic.StateDeploying, ironic.StateDeployWait, ironic.StateActive)
	w.Until(n.UUID, ironic.StateActive)
}

func deleting(w *World) {
	n := w.Available()
	w.ask(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(stuck)})
	n = w.Until(n.UUID, ironic.StateDeployWait)
	w.atWork(n, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateDeleting, ironic.StateCleaning, ironic.StateAvailable)
	w.Until(n.UUID, ironic.StateAvailable)
}

func adopting(w *World) {
	n := w.Manageable()
	w.atWork(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateAdopting, ironic.StateActive)
	w.Until(n.UUID, ironic.StateActive)
}

func servicing(w *World) {
	n := w.Do(w.Manageable(), ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	t := ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(nil)}}
	w.atWork(n, t, ironic.StateServicing, ironic.StateServiceWait, ironic.StateActive)
	w.Until(n.UUID, ironic.StateActive)
}
