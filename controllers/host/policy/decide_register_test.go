package policy

import (
	"strconv"
	"strings"
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

// TestWhoseMaintenanceOfAFailureItIs: only that of Ironic is ended at the next attempt.
func TestWhoseMaintenanceOfAFailureItIs(t *testing.T) {
	const failed = "no erase"
	long := strings.Repeat("no erase ", cutLength)
	reason := func(text string) func(*Observed) {
		return func(o *Observed) { full(o).MaintenanceReason = text }
	}
	for name, c := range map[string]struct {
		given []func(*Observed)
		do    string
		says  string
	}{
		"Ironic's": {do: "unset maintenance"},
		"Ironic's, which has lost the text": {given: []func(*Observed){func(o *Observed) {
			o.Node.LastError, o.Failure = "", new(failed)
			o.Host.Status.ErrorMessage = "another"
		}}, do: "unset maintenance"},
		"Ironic's, which has lost the text that the host has": {given: []func(*Observed){func(o *Observed) {
			o.Node.LastError = ""
		}}, do: "unset maintenance"},
		"Ironic's, and the host says more": {given: []func(*Observed){func(o *Observed) {
			o.Node.LastError = "power"
			o.Host.Status.ErrorMessage = failed + hintStart + "not read the live image"
		}}, do: "unset maintenance"},
		"Ironic's, cut": {given: []func(*Observed){reason(long[:4096]), func(o *Observed) {
			o.Node.LastError, o.Failure, o.Host.Status.ErrorMessage = "", new(long), "another"
		}}, do: "unset maintenance"},
		"Ironic's, of a loss of power before":        {given: []func(*Observed){reason("During sync_power_state, max retries exceeded")}, do: "unset maintenance"},
		"a controller's":                             {given: []func(*Observed){reason(driverReason)}, do: "unset maintenance"},
		"a person's":                                 {given: []func(*Observed){reason("new fan")}, says: "in maintenance: new fan"},
		"a person's, who gave no reason":             {given: []func(*Observed){reason("")}, says: "in maintenance"},
		"a person's, with the beginning of the text": {given: []func(*Observed){reason("no")}, says: "in maintenance: no"},
		"a person's, for which it failed": {given: []func(*Observed){func(o *Observed) {
			cleanFailed(o, "Cleaning aborted as node is in maintenance mode")
		}}, says: "in maintenance"},
		"not known before the history is read": {given: []func(*Observed){reason("new fan"), func(o *Observed) { o.Node.LastError = "" }}, do: "read failure"},
		"not known while Ironic handles it":    {given: []func(*Observed){reason(""), func(o *Observed) { o.Node.Reservation = "conductor" }}, says: "Ironic to end its handling"},
		"not known before the node is read":    {given: []func(*Observed){reason("new fan"), func(o *Observed) { o.Sight = o.Summary() }}, do: "read node"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StatePreparing, ironic.StateManageable)
			cleanFailed(o, failed)
			stalled(o, metal3.PreparationError, "PreparationError", time.Hour)
			o.Host.Status.ErrorMessage = failed
			for _, given := range c.given {
				given(o)
			}
			if _, read := o.InFull(); read {
				o.Applied = new(wanted(o))
			}
			d := Decide(o)
			if c.do != "" {
				g.Expect(d.Do).NotTo(BeNil(), d.Wait.Message())
				g.Expect(d.Do.Name()).To(Equal(c.do))
				return
			}
			g.Expect(d.Do).To(BeNil())
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}
