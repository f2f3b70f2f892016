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
	w.Until(n.UUID, ironic.StateInspectWait)
	err := w.Gateway.Delete(w.T.Context(), n.UUID)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Rejected), "in use, and not in maintenance: %v", err)
	w.ask(n, ironic.Transition{Target: ironic.TargetAbort})
	n = w.Until(n.UUID, ironic.StateInspectFailed)
	w.Expect(n.LastError).To(ContainSubstring("abort"))
	w.ask(n, ironic.Transition{Target: ironic.TargetInspect})
	w.Until(n.UUID, ironic.StateManageable)
}

func abortDeployment(w *World) {
	n := w.Available()
	w.ask(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(map[string]any{"seconds": 3})})
	n = w.Until(n.UUID, ironic.StateDeployWait)
	err := w.note(n)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Busy), "%v", err)
	w.ask(n, ironic.Transition{Target: ironic.TargetAbort})
	n = w.Until(n.UUID, ironic.StateDeployFailed)
	w.Do(n, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateAvailable)
}

func abortService(w *World) {
	n := w.Do(w.Manageable(), ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	w.ask(n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(stuck)}})
	n = w.Until(n.UUID, ironic.StateServiceWait)
	w.ask(n, ironic.Transition{Target: ironic.TargetAbort})
	n = w.Until(n.UUID, ironic.StateServiceFailed)
	w.Accepted(func() error { return w.Gateway.SetMaintenance(w.T.Context(), n.UUID, false, "") })
	w.Do(n, ironic.Transition{Target: ironic.TargetAbort}, ironic.StateActive)
}

func deployFailed(w *World) {
	n := w.Available()
	n = w.Do(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(map[string]any{"fail": true})}, ironic.StateDeployFailed)
	n = w.Update(n, ironic.Desired{InstanceInfo: ironic.Fields{"capabilities": map[string]any{}}})
	w.Do(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(nil)}, ironic.StateActive)
}

// undeployFailed has the BMC refuse the power-off of a tear-down.
func undeployFailed(w *World) {
	n, m := w.Enrol()
	n = w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
	n = w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	n = w.Update(n, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": WrongPassword}, SendSecrets: true, AutomatedClean: new(bool)})
	w.ask(n, ironic.Transition{Target: ironic.TargetDeleted})
	n = w.Until(n.UUID, ironic.StateError)
	w.Expect(n.LastError).NotTo(BeEmpty())
	n = w.Update(n, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": m.DriverInfo["redfish_password"]}, SendSecrets: true})
	w.Do(n, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateAvailable)
}

// adoptFailed adopts a node that lacks what its deploy interface wants.
func adoptFailed(w *World) {
	n := w.Update(w.Manageable(), ironic.Desired{Interfaces: ironic.Interfaces{Deploy: "ramdisk"}})
	w.ask(n, ironic.Transition{Target: ironic.TargetAdopt})
	n = w.Until(n.UUID, ironic.StateAdoptFailed)
	w.Expect(n.LastError).To(MatchRegexp("(?i)missing"))
	n = w.Update(n, ironic.Desired{Interfaces: ironic.Interfaces{Deploy: "custom-agent"}})
	w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
}

func deleteInUse(w *World) {
	n := w.Update(w.Manageable(), ironic.Desired{InstanceUUID: new("0e3cbf1c-0a0a-4a0a-8a0a-000000000003")})
	n = w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	err := w.Gateway.Delete(w.T.Context(), n.UUID)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Rejected), "%v", err)
	w.Expect(w.Gateway.SetMaintenance(w.T.Context(), n.UUID, true, "detached")).To(Succeed())
	w.Accepted(func() error { return w.Gateway.Delete(w.T.Context(), n.UUID) })
	_, err = w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "%v", err)
}
