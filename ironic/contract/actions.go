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

// atWork asks for a transition and looks at the node while the conductor works on
// it: the request counts as taken when it is repeated, and a change of the node's
// fields is answered busy, with a text. Ironic itself waits some seconds for a
// lock, so that the change may also be made: then the conductor had finished.
func (w *World) atWork(n *ironic.Node, t ironic.Transition, state ironic.ProvisionState) {
	w.T.Helper()
	w.ask(n, t)
	again := w.Gateway.Transition(w.T.Context(), n.UUID, t)
	w.Expect(again).To(Or(Succeed(), HaveField("Kind", ironic.Busy)), "asked again")
	err := w.note(n)
	if err == nil {
		after, err := w.Gateway.Get(w.T.Context(), n.UUID)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(after.ProvisionState).NotTo(Equal(state), "changed while the conductor holds it")
		return
	}
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Busy), "%v", err)
	w.Expect(err).To(MatchError(Or(ContainSubstring("is locked by"), ContainSubstring("state transition is in progress"))))
}

func verifying(w *World) {
	n, _ := w.Enrol()
	w.atWork(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateVerifying)
	w.Until(n.UUID, ironic.StateManageable)
}

func inspecting(w *World) {
	n := w.Manageable()
	w.atWork(n, ironic.Transition{Target: ironic.TargetInspect}, ironic.StateInspecting)
	w.Until(n.UUID, ironic.StateManageable)
}

func cleaning(w *World) {
	n := w.Manageable()
	w.atWork(n, ironic.Transition{Target: ironic.TargetClean, CleanSteps: []ironic.Step{step(nil)}}, ironic.StateCleaning)
	w.Until(n.UUID, ironic.StateManageable)
}

func deploying(w *World) {
	n := w.Available()
	w.atWork(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(nil)}, ironic.StateDeploying)
	w.Until(n.UUID, ironic.StateActive)
}

func deleting(w *World) {
	n := w.Available()
	w.ask(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(stuck)})
	n = w.Until(n.UUID, ironic.StateDeployWait)
	w.atWork(n, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateDeleting)
	w.Until(n.UUID, ironic.StateAvailable)
}

func adopting(w *World) {
	n := w.Manageable()
	w.atWork(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateAdopting)
	w.Until(n.UUID, ironic.StateActive)
}

func servicing(w *World) {
	n := w.Do(w.Manageable(), ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	w.atWork(n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(nil)}}, ironic.StateServicing)
	w.Until(n.UUID, ironic.StateActive)
}
