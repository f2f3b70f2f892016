package policy

import (
	"strings"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// TestWhoseReason: when the hub has given the installation up and the step had its
// time, the host shows the step's reason if Ironic has one by then.
func TestWhoseReason(t *testing.T) {
	for name, c := range map[string]struct{ history, want string }{
		"the hub's": {"", "start_assisted_install failed: cancelled by the user"},
		"the step's": {
			"Deploy step deploy.start_assisted_install failed on node node-a. installation cancelled: the hub ended the installation",
			"start_assisted_install failed: installation cancelled: the hub ended the installation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateProvisioning, ironic.StateDeployWait)
			wantInstall(o.Host)
			o.Host.Status.OperationHistory.Provision.Start = metav1.NewTime(noon.Add(-time.Hour))
			o.Node.DeployStep = ironic.Step{Interface: "deploy", Name: names.StartAssistedInstall}
			o.Progress = Progress{Stage: "error", Failure: "cancelled by the user", FailedAt: noon.Add(-waitVerdict)}
			applied := wanted(o)
			o.Applied = &applied
			g.Expect(Decide(o).Do).To(BeAssignableToTypeOf(nodeaction.ReadFailure{}))
			o.Failure = &c.history
			d := Decide(o)
			g.Expect(d.Status.ErrorMessage).To(Equal(c.want))
			g.Expect(d.Do).To(HaveField("Target", ironic.TargetDeleted))
		})
	}
}

// TestADeploymentHasEndedOfANodeThatIsServiced: the host's status is of a backup from before the end.
func TestADeploymentHasEndedOfANodeThatIsServiced(t *testing.T) {
	for _, state := range []ironic.ProvisionState{ironic.StateServicing, ironic.StateServiceWait, ironic.StateServiceFailed} {
		t.Run(string(state), func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateProvisioning, state)
			wantInstall(o.Host)
			settled(o)
			d := Decide(o)
			g.Expect(d.Do).To(BeNil())
			g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
			g.Expect(d.Status.Provisioning.CustomDeploy).To(Equal(o.Host.Spec.CustomDeploy), "what is on the machine is told")
		})
	}
}

// TestADeploymentThatRestartsOfIronicCutOff is begun anew at once, but not without end, and
// not from a node that was being taken down: that keeps nothing to be deployed.
func TestADeploymentThatRestartsOfIronicCutOff(t *testing.T) {
	g := NewWithT(t)
	cut := func(state ironic.ProvisionState) *Observed {
		o := observed(metal3.StateProvisioning, state)
		wantInstall(o.Host)
		o.Node.LastError = "The deploying state can't be resumed by conductor x. Moving to fail state."
		applied := wanted(o)
		o.Applied, o.Unfit = &applied, &[]ironic.ValidationFailure{}
		return o
	}
	o := cut(ironic.StateDeployFailed)
	first := Decide(recorded(o))
	g.Expect(first.Do).To(HaveField("Target", ironic.TargetActive))
	g.Expect(first.Status.ErrorType).To(BeEmpty())

	o = cut(ironic.StateDeployFailed)
	o.Host.Status.Conditions = first.Status.Conditions
	second := Decide(recorded(o))
	g.Expect(second.Do).To(BeNil())
	g.Expect(second.Status.ErrorType).To(Equal(metal3.ProvisioningError))
	g.Expect(failedDeployments(o.Host, &second.Status)).To(Equal(2), "so that the limit holds")

	down := Decide(cut(ironic.StateError))
	g.Expect(down.Status.Provisioning.State).To(Equal(metal3.StateDeprovisioning))
	g.Expect(down.Status.ErrorType).To(BeEmpty())
}

// TestAnInspectionThatRestartsOfIronicCutOff is begun anew at once the first time only.
func TestAnInspectionThatRestartsOfIronicCutOff(t *testing.T) {
	g := NewWithT(t)
	cut := func(count int) *Decision {
		o := observed(metal3.StateInspecting, ironic.StateInspectFailed)
		o.Node.LastError = "The inspecting state can't be resumed by conductor x. Moving to fail state."
		o.Host.Status.ErrorCount = count
		settled(o)
		return Decide(o)
	}
	first := cut(0)
	g.Expect(first.Do).To(HaveField("Target", ironic.TargetInspect))
	g.Expect(first.Status.ErrorCount).To(Equal(1))
	g.Expect(first.Status.ErrorType).To(BeEmpty())
	g.Expect(cut(1).Status.ErrorType).To(Equal(metal3.InspectionError))
}

// TestStatesThatNobodyAskedForAreShown: a person has put the node into a state that
// no phase asks for. It is left alone, and the host says where it is.
func TestStatesThatNobodyAskedForAreShown(t *testing.T) {
	for _, state := range []State{metal3.StateInspecting, metal3.StatePreparing, metal3.StateAvailable, metal3.StateProvisioning, metal3.StateProvisioned, metal3.StateDeprovisioning} {
		for _, node := range []ironic.ProvisionState{ironic.StateRescue, ironic.StateCleanHold, ironic.StateDeployHold, ironic.StateServiceHold} {
			t.Run(string(state)+", "+string(node), func(t *testing.T) {
				g := NewWithT(t)
				o := observed(state, node)
				if state != metal3.StateAvailable { // there a wish leads on to provisioning, which says it
					wantInstall(o.Host)
				}
				if state == metal3.StateProvisioned || state == metal3.StateDeprovisioning {
					provisionedWithInstall(o)
				}
				settled(o)
				d := Decide(recorded(o))
				g.Expect(ToIronicWrite(d.Do)).To(BeFalse(), "%T", d.Do)
				g.Expect(d.Wait.Message()).To(ContainSubstring(string(node)))
			})
		}
	}
}

// TestTheImageIsReadUntilTheLiveSystemCalls: how far the BMC has read the live image
// is shown while nobody else tells what the machine does, and not after.
func TestTheImageIsReadUntilTheLiveSystemCalls(t *testing.T) {
	const text = "BMC reads the live image"
	called := ironic.AgentInfo{URL: "https://192.0.2.1:9999"}
	for name, c := range map[string]struct {
		state State
		node  ironic.Node
		shown bool
	}{
		"inspection":                   {metal3.StateInspecting, ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateInspectWait}}, true},
		"cleaning, boot":               {metal3.StateProvisioning, ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateCleanWait}}, true},
		"cleaning, heartbeat":          {metal3.StateProvisioning, ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateCleanWait, Agent: called}}, false},
		"cleaning, step":               {metal3.StateProvisioning, ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateCleanWait}, CleanStep: ironic.Step{Name: "erase_devices_metadata"}}, false},
		"deployment, boot":             {metal3.StateProvisioning, ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateDeployWait, DeployStep: ironic.Step{Name: "deploy"}}}, true},
		"deployment, heartbeat":        {metal3.StateProvisioning, ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateDeployWait, DeployStep: ironic.Step{Name: "deploy"}, Agent: called}}, false},
		"deployment, live system's":    {metal3.StateProvisioning, ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateDeployWait, DeployStep: ironic.Step{Name: names.StartAssistedInstall}}}, false},
		"deployment, between requests": {metal3.StateProvisioning, ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateDeploying, Agent: called}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(c.state, c.node.ProvisionState)
			wantInstall(o.Host)
			o.Node.DeployStep, full(o).CleanStep, o.Node.Agent = c.node.DeployStep, c.node.CleanStep, c.node.Agent
			settled(o)
			o.Progress = Progress{Stage: text, Percent: 55, Reading: true}
			said := Decide(o).Wait
			g.Expect(said.Message()).NotTo(BeEmpty())
			g.Expect(strings.Contains(said.Message(), text)).To(Equal(c.shown), said.Message())
		})
	}
}
