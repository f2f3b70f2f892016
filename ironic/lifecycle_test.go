package ironic_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// newGateway connects a gateway to a simulated Ironic without a network.
func newGateway(t *testing.T, o simulator.Options) (*ironic.Gateway, *simulator.Server) {
	t.Helper()
	s := simulator.New(o)
	t.Cleanup(s.Close)
	g, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: s.Transport()})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return g, s
}

// enrol creates a redfish node.
func enrol(t *testing.T, g *ironic.Gateway, name string) *ironic.Node {
	t.Helper()
	n, err := g.Enrol(t.Context(), ironic.Enrolment{Name: name, Driver: "redfish", DriverInfo: map[string]any{
		"redfish_address": "https://bmc.test", "redfish_username": "admin", "redfish_password": "hunter2hunter2",
	}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return n
}

// pass lets time go by in the test's bubble and waits until all is quiet.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of testing/synctest: nobody waits
	synctest.Wait()
}

func TestLifeCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, _ := newGateway(t, simulator.Options{
			AutomatedClean: true, RamdiskSteps: []simulator.Step{{Interface: "deploy", Step: "confirm_install", Priority: 79}},
			Delays: simulator.Delays{Verify: 500 * time.Millisecond, Inspect: 5 * time.Second, Clean: 5 * time.Second, Deploy: 5 * time.Second, Power: time.Second},
		})
		n := enrol(t, g, "ns~host")
		priority := 80
		for _, step := range []struct {
			ask  ironic.Transition
			ends ironic.ProvisionState
		}{
			{ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable},
			{ironic.Transition{Target: ironic.TargetInspect}, ironic.StateManageable},
			{ironic.Transition{Target: ironic.TargetProvide}, ironic.StateAvailable},
			{ironic.Transition{Target: ironic.TargetActive, DeploySteps: []ironic.Step{
				{Interface: "deploy", Name: "start_assisted_install", Args: map[string]any{}, Priority: &priority},
			}}, ironic.StateActive},
			{ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateAvailable},
		} {
			e.Expect(g.Transition(t.Context(), n.UUID, step.ask)).To(Succeed())
			e.Expect(g.Transition(t.Context(), n.UUID, step.ask)).To(Succeed(), "asked again: %s", step.ask.Target)
			pass(6 * time.Second)
			after, err := g.Get(t.Context(), n.UUID)
			e.Expect(err).NotTo(HaveOccurred())
			e.Expect(after.ProvisionState).To(Equal(step.ends), "%s: %s", step.ask.Target, after.LastError)
		}
		e.Expect(g.Delete(t.Context(), n.UUID)).To(Succeed())
		e.Expect(g.Delete(t.Context(), n.UUID)).To(Succeed(), "deleted already")
	})
}
