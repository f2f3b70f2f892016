package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

// TestAHostThatIsToBeOffIsNotDeployed: spec.online goes while the machine is cleaned before its deployment.
func TestAHostThatIsToBeOffIsNotDeployed(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioning, ironic.StateAvailable)
	wantInstall(o.Host)
	o.Host.Spec.Online = false
	applied := wanted(o)
	o.Applied = &applied
	o.Unfit = &[]ironic.ValidationFailure{}
	o.ConfigDrive = &nodespec.ConfigDrive{}
	d := Decide(o)
	name := ""
	if d.Do != nil {
		name = d.Do.Name()
	}
	g.Expect(name).NotTo(Equal("ask for active"))
}

// TestADeploymentThatIsCutOffIsNotBegunAnewForAHostThatIsToBeOff: spec.online goes while the machine is deployed, and Ironic
// restarts. The machine is given back, without an error, and deployed when it is to be on.
func TestADeploymentThatIsCutOffIsNotBegunAnewForAHostThatIsToBeOff(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioning, ironic.StateDeployFailed)
	wantInstall(o.Host)
	o.Host.Spec.Online = false
	o.Node.LastError = "The deploying state can't be resumed by conductor x. Moving to fail state."
	applied := wanted(o)
	o.Applied, o.Unfit = &applied, &[]ironic.ValidationFailure{}
	d := Decide(o)
	g.Expect(d.Do).To(BeNil())
	g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateDeprovisioning))
	g.Expect(d.Status.ErrorType).To(BeEmpty())
}

// TestADeploymentIsEndedWithoutCleaningWhereThatIsDisabled: spec.automatedCleaningMode becomes disabled while the machine is
// deployed, which Ironic cannot be told then. Whatever ends the deployment, the disks are not cleaned for that.
func TestADeploymentIsEndedWithoutCleaningWhereThatIsDisabled(t *testing.T) {
	deploying := func() *Observed {
		o := observed(metal3.StateProvisioning, ironic.StateDeployWait)
		wantInstall(o.Host)
		o.Host.Spec.AutomatedCleaningMode = metal3.CleaningModeDisabled
		o.Host.Status.OperationHistory.Provision.Start = metav1.NewTime(noon.Add(-time.Hour))
		full(o).AutomatedClean = nil
		o.Applied = &ironic.Desired{}
		return o
	}
	t.Run("the hub has failed it", func(t *testing.T) {
		g := NewWithT(t)
		o, reason := deploying(), ""
		o.Node.DeployStep = ironic.Step{Interface: "deploy", Name: names.StartAssistedInstall}
		o.Progress = Progress{Stage: "error", Failure: "cancelled by the user", FailedAt: noon.Add(-waitVerdict)}
		o.Failure = &reason
		d := Decide(o)
		g.Expect(d.Status.ErrorMessage).To(ContainSubstring("cancelled by the user"))
		g.Expect(d.Do).To(HaveField("Target", ironic.TargetAbort))
	})
	t.Run("it is started over", func(t *testing.T) {
		g := NewWithT(t)
		o := deploying()
		o.Host.Annotations = map[string]string{names.Reboot: `{"mode":"hard","force":true}`}
		announced, is := Decide(o).Do.(Announce)
		g.Expect(is).To(BeTrue())
		o.Host.Annotations = map[string]string{names.Rebooting: announced.Mark.Value()}
		d := Decide(o)
		g.Expect(d.Do).To(BeNil())
		g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateDeprovisioning))
		g.Expect(d.DropAnnotations).To(ContainElement(names.Rebooting))
		o.Host.Status = d.Status
		g.Expect(Decide(o).Do).To(HaveField("Target", ironic.TargetAbort))
	})
}

// TestWhatIsSaidToBeKeptOutlivesTheDeletionOfItsHost: a host of a backup of when its machine was deployed is left alone;
// somebody says that what is on it is to be kept, and deletes the host at once.
func TestWhatIsSaidToBeKeptOutlivesTheDeletionOfItsHost(t *testing.T) {
	for _, state := range []State{metal3.StateProvisioning, metal3.StateDeprovisioning} {
		g := NewWithT(t)
		o := observed(state, ironic.StateManageable)
		wantInstall(o.Host)
		stalled(o, metal3.RegistrationError, causeUnproven, time.Hour)
		full(o).Extra = map[string]any{"ironflow_baseline": "unknown"}
		o.Host.Spec.ExternallyProvisioned = true
		deletedNow(o)
		for range 5 {
			d := Decide(o)
			if d.Do != nil {
				g.Expect(d.Do.Name()).NotTo(Equal("ask for provide"), "%s: the machine is cleaned", state)
				break
			}
			o.Host.Status = d.Status
			if !d.Again {
				break
			}
			applied := wanted(o)
			o.Applied = &applied
		}
	}
}
