//go:build e2e

package machine_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/machine/ironictest"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// TestFaultsWithTheRealIronic shows what Ironic makes of each fault of the
// machine itself, and that the next attempt goes well.
func TestFaultsWithTheRealIronic(t *testing.T) {
	kinds := map[scenario.FaultKind]func(*testing.T, *realParts, *scenario.Scenario){
		scenario.FaultNoBoot:        bootFault,
		scenario.FaultTruncatedRead: bootFault,
		scenario.FaultCleanStep:     cleanFault,
		scenario.FaultRestart:       restartFault,
	}
	var scenarios []*scenario.Scenario
	var runs []func(*testing.T, *realParts, *scenario.Scenario)
	for kind, run := range kinds {
		s := generate.Machine(len(scenarios), generate.Options{Speed: 20, Prefix: string(kind) + "-"})
		if err := generate.AddFault(s, kind); err != nil {
			t.Fatal(err)
		}
		scenarios, runs = append(scenarios, s), append(runs, run)
	}
	r := newRealParts(t, lab.IronicOptions{CallbackTimeout: time.Minute}, scenarios)
	for i, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) { runs[i](t, r, s) })
	}
}

// bootFault: nothing ever calls Ironic, which gives up; the reason is the
// machine's own.
func bootFault(t *testing.T, r *realParts, s *scenario.Scenario) {
	g := NewWithT(t)
	node := r.enroll(t, s.Name)
	node.Manageable()
	node.Provision("inspect", nil)
	node.UntilView("the inspection has failed", func(v ironictest.View) bool { return v.ProvisionState == "inspect failed" })
	stuck, _ := r.fleet.State(s.Name)
	g.Expect(stuck.Boots).To(Equal(1))
	node.Provision("inspect", nil)
	node.Until("manageable")
}

func cleanFault(t *testing.T, r *realParts, s *scenario.Scenario) {
	g := NewWithT(t)
	node := r.enroll(t, s.Name)
	node.Manageable()
	node.Provision("provide", nil)
	node.UntilView("cleaning has failed", func(v ironictest.View) bool { return v.ProvisionState == "clean failed" })
	g.Expect(node.History()).To(ContainElement(ContainSubstring("disk refuses to be erased: it is frozen")))
	node.EndMaintenance()
	node.Manageable()
	node.Provision("provide", nil)
	node.Until("available")
}

// restartFault: the machine restarts in mid step and its fresh IPA is locked
// out. Ironic's own reboot brings confirm_install, which tells what happened.
func restartFault(t *testing.T, r *realParts, s *scenario.Scenario) {
	g := NewWithT(t)
	node := r.enroll(t, s.Name)
	node.Available()
	node.Deploy("start_assisted_install", nil)
	_, err := r.waitFor(t, s.Name, func(s machine.Status) bool { return s.Agent == ipa.LockedDown })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(node.Get()).To(And(HaveField("ProvisionState", "wait call-back"),
		HaveField("DeployStep", HaveKeyWithValue("step", "start_assisted_install"))), "Ironic has not noticed")
	node.Power("rebooting")
	node.UntilView("the deployment has failed", func(v ironictest.View) bool { return v.ProvisionState == "deploy failed" })
	g.Expect(node.History()).To(ContainElement(And(ContainSubstring("Deploy step deploy.confirm_install failed"), ContainSubstring("boot"))))
	node.Deploy("start_assisted_install", nil)
	node.Until("active")
}
