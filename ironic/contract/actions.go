package contract

import (
	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/ironic"
)

// Action is one cell of the table of what Ironflow does with a node, by the
// node's state, and the case that shows how Ironic takes it.
type Action struct {
	State ironic.ProvisionState
	Name  string // of the wish: register, inspect, prepare, provision, …
	Case  string
}

// Actions is that table. docs/ironic.md has the same rows.
var Actions = []Action{
	{ironic.StateEnroll, "register", "manage"},
	{ironic.StateEnroll, "delete", "delete"},
	{ironic.StateVerifying, "register", "verifying"},
	{ironic.StateVerifying, "delete", "verifying"},
	{ironic.StateManageable, "inspect", "inspect"},
	{ironic.StateManageable, "prepare", "clean"},
	{ironic.StateManageable, "provision", "provide"},
	{ironic.StateManageable, "deprovision", "provide"},
	{ironic.StateManageable, "adopt", "adopt"},
	{ironic.StateManageable, "delete", "delete"},
	{ironic.StateInspecting, "register", "inspecting"},
	{ironic.StateInspecting, "inspect", "inspecting"},
	{ironic.StateInspecting, "delete", "inspecting"},
	{ironic.StateInspectWait, "inspect", "abort inspection"},
	{ironic.StateInspectWait, "delete", "abort inspection"},
	{ironic.StateInspectFailed, "inspect", "abort inspection"},
	{ironic.StateAvailable, "inspect", "provide"},
	{ironic.StateAvailable, "prepare", "provide"},
	{ironic.StateAvailable, "provision", "deploy"},
	{ironic.StateAvailable, "deprovision", "undeploy"},
	{ironic.StateAvailable, "delete", "delete"},
	{ironic.StateDeploying, "register", "deploying"},
	{ironic.StateDeploying, "deprovision", "deploying"},
	{ironic.StateDeploying, "delete", "deploying"},
	{ironic.StateDeployWait, "register", "abort deployment"},
	{ironic.StateDeployWait, "provision", "undeploy"},
	{ironic.StateDeployWait, "deprovision", "undeploy"},
	{ironic.StateDeployWait, "delete", "abort deployment"},
	{ironic.StateActive, "provision", "deploy"},
	{ironic.StateActive, "deprovision", "undeploy"},
	{ironic.StateActive, "adopt", "adopt"},
	{ironic.StateActive, "service", "service"},
	{ironic.StateActive, "delete", "delete in use"},
	{ironic.StateDeployFailed, "provision", "deploy failed"},
	{ironic.StateDeployFailed, "deprovision", "failure text"},
	{ironic.StateDeleting, "deprovision", "deleting"},
	{ironic.StateDeleting, "delete", "deleting"},
	{ironic.StateCleaning, "register", "cleaning"},
	{ironic.StateCleaning, "prepare", "cleaning"},
	{ironic.StateCleaning, "delete", "cleaning"},
	{ironic.StateCleanWait, "register", "abort"},
	{ironic.StateCleanWait, "delete", "abort"},
	{ironic.StateCleanFailed, "prepare", "clean"},
	{ironic.StateCleanFailed, "provision", "clean"},
	{ironic.StateCleanFailed, "deprovision", "clean"},
	{ironic.StateError, "deprovision", "error"},
	{ironic.StateAdopting, "adopt", "adopting"},
	{ironic.StateAdoptFailed, "adopt", "adopt failed"},
	{ironic.StateServicing, "service", "servicing"},
	{ironic.StateServicing, "delete", "servicing"},
	{ironic.StateServiceWait, "service", "abort service"},
	{ironic.StateServiceWait, "delete", "abort service"},
	{ironic.StateServiceFailed, "service", "service"},
}

// note changes a field that means nothing to Ironic.
func (w *World) note(n *ironic.Node) error {
	_, _, err := w.Gateway.Update(w.T.Context(), n, ironic.Desired{Extra: ironic.Fields{"note": w.T.Name()}})
	return err
}

// ask asks for a transition and does not wait for what comes of it.
func (w *World) ask(n *ironic.Node, t ironic.Transition) {
	w.T.Helper()
	w.Accepted(func() error { return w.Gateway.Transition(w.T.Context(), n.UUID, t) })
}

// atWork brings nodes into a state in which the conductor works, until requests
// find one there: a change of its fields and its deletion are answered busy,
// with a text, and the request that led there counts as taken when it is repeated.
func (w *World) atWork(enter func() (*ironic.Node, ironic.Transition)) {
	w.T.Helper()
	var n *ironic.Node
	w.Eventually(func(g Gomega) {
		var t ironic.Transition
		n, t = enter()
		w.ask(n, t)
		err := w.note(n)
		g.Expect(ironic.KindOf(err)).To(Equal(ironic.Busy), "%v", err)
		g.Expect(err).To(MatchError(Or(ContainSubstring("is locked by"), ContainSubstring("state transition is in progress"))))
		err = w.Gateway.Delete(w.T.Context(), n.UUID)
		g.Expect(ironic.KindOf(err)).To(Or(Equal(ironic.Busy), Equal(ironic.Rejected)), "%v", err)
		again := w.Gateway.Transition(w.T.Context(), n.UUID, t)
		g.Expect(again).To(Or(Succeed(), HaveField("Kind", ironic.Busy)), "asked again")
	}, w.Patience, w.Look).Should(Succeed())
	_, err := w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred(), "the node was not deleted")
}

func verifying(w *World) {
	w.atWork(func() (*ironic.Node, ironic.Transition) {
		n, _ := w.Enrol()
		return n, ironic.Transition{Target: ironic.TargetManage}
	})
}

func inspecting(w *World) {
	w.atWork(func() (*ironic.Node, ironic.Transition) {
		return w.Manageable(), ironic.Transition{Target: ironic.TargetInspect}
	})
}

func cleaning(w *World) {
	w.atWork(func() (*ironic.Node, ironic.Transition) {
		return w.Manageable(), ironic.Transition{Target: ironic.TargetClean, CleanSteps: []ironic.Step{step(nil)}}
	})
}

func deploying(w *World) {
	w.atWork(func() (*ironic.Node, ironic.Transition) {
		return w.Available(), ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(nil)}
	})
}

func deleting(w *World) {
	w.atWork(func() (*ironic.Node, ironic.Transition) {
		n := w.Available()
		w.ask(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(map[string]any{"seconds": 60})})
		return w.Until(n.UUID, ironic.StateDeployWait), ironic.Transition{Target: ironic.TargetDeleted}
	})
}

func adopting(w *World) {
	w.atWork(func() (*ironic.Node, ironic.Transition) {
		return w.Manageable(), ironic.Transition{Target: ironic.TargetAdopt}
	})
}

func servicing(w *World) {
	w.atWork(func() (*ironic.Node, ironic.Transition) {
		n := w.Do(w.Manageable(), ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
		return n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(nil)}}
	})
}
