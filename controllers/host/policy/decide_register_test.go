package policy

import (
	"strconv"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// TestMendedCredentialsEndTheirError also where the machine cannot be as wanted.
func TestMendedCredentialsEndTheirError(t *testing.T) {
	for name, c := range map[string]struct {
		given func(*Observed)
		want  metal3.ErrorType
	}{
		"mended":        {func(*Observed) {}, ""},
		"still broken":  {func(o *Observed) { o.BMC.Problem = "it broke" }, metal3.RegistrationError},
		"being deleted": {func(o *Observed) { o.Host.DeletionTimestamp = new(metav1.NewTime(noon)) }, ""}, // by the next phase
	} {
		t.Run(name, func(t *testing.T) {
			o := inUseWith(ironic.StateActive, func(o *Observed) {
				o.Node.PowerState = ironic.PowerUnknown // nobody can tell whether it is as wanted
				stalled(o, metal3.RegistrationError, causeCredentials, time.Hour)
				c.given(o)
			})
			NewWithT(t).Expect(Decide(recorded(o)).Status.ErrorType).To(Equal(c.want))
		})
	}
}

func TestHardwareProfileIsTold(t *testing.T) {
	for name, told := range map[string]bool{"": false, "dell": true} {
		t.Run("profile "+strconv.Quote(name), func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateRegistering, ironic.StateManageable)
			o.Host.Spec.HardwareProfile, o.Host.Status.HardwareProfile = name, ""
			settled(o)
			d := Decide(o)
			g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateInspecting))
			g.Expect(d.Status.HardwareProfile).NotTo(BeEmpty())
			event := ContainElement(HaveField("Reason", "ProfileSet"))
			if told {
				g.Expect(d.Events).To(event)
			} else {
				g.Expect(d.Events).NotTo(event, "it would be a request for each host of a fleet")
			}
		})
	}
}

// TestNoNodeIsEnrolledBesideOneThatIsNotListedYet: a machine may have a node of another name, which only the list shows.
func TestNoNodeIsEnrolledBesideOneThatIsNotListedYet(t *testing.T) {
	for unlisted, enrolled := range map[bool]bool{true: false, false: true} {
		t.Run("unlisted "+strconv.FormatBool(unlisted), func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateRegistering, ironic.StateManageable)
			o.Host.Status.Provisioning.ID, o.Sight, o.Unlisted = "", nodeaction.Missing(), unlisted
			d := Decide(o)
			_, is := d.Do.(Enrol)
			g.Expect(is).To(Equal(enrolled))
			g.Expect(d.Wait.After > 0).To(Equal(unlisted), "it looks again")
		})
	}
}
