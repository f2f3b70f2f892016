package contract

import (
	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/ironic"
)

// stuck is a step that does not end while the test looks.
var stuck = map[string]any{"seconds": 60}

func abortInspection(w *World) {
	n := w.Manageable()
	w.ask(n, ironic.Transition{Target: ironic.TargetInspect})
	n = w.Until(n.UUID, ironic.StateInspectWait)
	w.holds(n, ironic.StateInspecting, ironic.StateManageable)
	w.ask(n, ironic.Transition{Target: ironic.TargetAbort})
	n = w.Until(n.UUID, ironic.StateInspectFailed)
	w.Expect(n.LastError).To(ContainSubstring("abort"))
	w.holds(n)
	w.fixed(n)
	n = w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
	w.ask(n, ironic.Transition{Target: ironic.TargetInspect})
	w.Until(n.UUID, ironic.StateInspectWait)
	w.ask(n, ironic.Transition{Target: ironic.TargetAbort})
	w.Until(n.UUID, ironic.StateInspectFailed)
	n = w.Do(n, ironic.Transition{Target: ironic.TargetInspect}, ironic.StateInspectWait)
	w.ask(n, ironic.Transition{Target: ironic.TargetAbort})
	w.release(w.Until(n.UUID, ironic.StateInspectFailed))
}

func abortDeployment(w *World) {
	n := w.Available()
	w.ask(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(map[string]any{"seconds": 3})})
	n = w.Until(n.UUID, ironic.StateDeployWait)
	err := w.note(n)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Busy), "%v", err)
	w.ask(n, ironic.Transition{Target: ironic.TargetAbort})
	w.release(w.Until(n.UUID, ironic.StateDeployFailed))
}

func abortService(w *World) {
	n := w.Do(w.Manageable(), ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	w.ask(n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(stuck)}})
	n = w.Until(n.UUID, ironic.StateServiceWait)
	w.holds(n)
	n = w.Do(n, ironic.Transition{Target: ironic.TargetAbort}, ironic.StateActive)
	w.Expect(n.LastError).To(ContainSubstring("service operation was aborted"), "the only trace of it")
	fails := ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(map[string]any{"fail": true})}}
	w.release(w.Do(n, fails, ironic.StateServiceFailed))
}

// undeployInService takes the machine away from an instance in the middle of
// servicing, and after its failure. The step of the ramdisk that ran stays on the
// node either way, and Ironic takes it for the one that runs: the next servicing
// with steps of the ramdisk ends well without a single one.
func undeployInService(w *World) {
	n := w.Update(w.Manageable(), ironic.Desired{AutomatedClean: new(bool)})
	adopt := func() { n = w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive) }
	service := func(args map[string]any, at ironic.ProvisionState) {
		w.T.Helper()
		n = w.Do(n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(args)}}, at)
	}
	takeBack := func() {
		n = w.Do(n, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateAvailable)
		w.Expect(n.Maintenance).To(BeFalse())
		n = w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
	}
	fails := map[string]any{"fail": true}

	adopt()
	service(stuck, ironic.StateServiceWait)
	w.Eventually(func(g Gomega) {
		var err error
		n, err = w.Gateway.Get(w.T.Context(), n.UUID)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(n.ServiceStep.Name).To(Equal(StepName))
		g.Expect(n.ProvisionState).To(Equal(ironic.StateServiceWait))
	}, w.Patience, w.Look).Should(Succeed())
	for range 2 {
		takeBack()
		w.Expect(n.ServiceStep.Name).To(Equal(StepName), "left behind")
		adopt()
		service(fails, ironic.StateActive)
		w.Expect(n.ServiceStep.IsZero()).To(BeTrue(), "servicing that ran nothing has taken it away")
		service(fails, ironic.StateServiceFailed)
	}
}

func deployFailed(w *World) {
	n := w.Available()
	n = w.Do(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(map[string]any{"fail": true})}, ironic.StateDeployFailed)
	w.holds(n)
	w.fixed(n)
	n = w.Update(n, ironic.Desired{InstanceInfo: ironic.Fields{"capabilities": map[string]any{}}})
	w.Do(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(nil)}, ironic.StateActive)
}

// undeployFailed has the BMC refuse the power-off of a tear-down.
func undeployFailed(w *World) {
	fail := func() (*ironic.Node, Machine) {
		n, m := w.Enrol()
		n = w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
		n = w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
		n = w.Update(n, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": WrongPassword}, SendSecrets: true, AutomatedClean: new(bool)})
		w.ask(n, ironic.Transition{Target: ironic.TargetDeleted})
		n = w.Until(n.UUID, ironic.StateError)
		w.Expect(n.LastError).NotTo(BeEmpty())
		return n, m
	}
	n, m := fail()
	w.holds(n)
	w.fixed(n)
	n = w.Update(n, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": m.DriverInfo["redfish_password"]}, SendSecrets: true})
	w.Do(n, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateAvailable)
	n, _ = fail()
	w.release(n)
}

// adoptFailed adopts nodes that lack what their deploy interface wants.
func adoptFailed(w *World) {
	fail := func(n *ironic.Node) *ironic.Node {
		w.ask(n, ironic.Transition{Target: ironic.TargetAdopt})
		n = w.Until(n.UUID, ironic.StateAdoptFailed)
		w.Expect(n.LastError).To(MatchRegexp("(?i)missing"))
		return n
	}
	n := fail(w.Update(w.Manageable(), ironic.Desired{Interfaces: ironic.Interfaces{Deploy: "ramdisk"}}))
	w.holds(n)
	w.fixed(n)
	n = w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
	n = fail(n)
	n = w.Update(n, ironic.Desired{InstanceInfo: ironic.Fields{"boot_iso": w.ImageURL}})
	w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	w.release(fail(w.Update(w.Manageable(), ironic.Desired{Interfaces: ironic.Interfaces{Deploy: "ramdisk"}})))
}

func deleteInUse(w *World) {
	n := w.Update(w.Manageable(), ironic.Desired{InstanceUUID: new("0e3cbf1c-0a0a-4a0a-8a0a-000000000003")})
	n = w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	err := w.Gateway.Delete(w.T.Context(), n.UUID)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Rejected), "%v", err)
	w.release(n)
}
