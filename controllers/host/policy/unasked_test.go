package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

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
