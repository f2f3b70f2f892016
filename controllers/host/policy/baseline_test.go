package policy

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// TestWhatANewNodeRemembers is part of the enrolment itself, so that no crash can part the two.
func TestWhatANewNodeRemembers(t *testing.T) {
	for name, c := range map[string]struct {
		state State
		seen  State // the phase in which its node was seen last
		given func(*metal3.BareMetalHost)
		want  bool
	}{
		"a new host":                   {state: metal3.StateRegistering, given: func(h *metal3.BareMetalHost) { h.Status.Provisioning.ID = "" }},
		"registering, seen":            {state: metal3.StateRegistering, seen: metal3.StateRegistering},
		"inspecting, seen":             {state: metal3.StateInspecting, seen: metal3.StateInspecting},
		"preparing, seen":              {state: metal3.StatePreparing, seen: metal3.StatePreparing},
		"provisioning, seen":           {state: metal3.StateProvisioning, seen: metal3.StateProvisioning},
		"deprovisioning, seen":         {state: metal3.StateDeprovisioning, seen: metal3.StateDeprovisioning},
		"registering":                  {state: metal3.StateRegistering, want: true},
		"inspecting":                   {state: metal3.StateInspecting, want: true},
		"preparing":                    {state: metal3.StatePreparing, want: true},
		"provisioning":                 {state: metal3.StateProvisioning, want: true},
		"deprovisioning":               {state: metal3.StateDeprovisioning, want: true},
		"provisioning, seen later":     {state: metal3.StateProvisioning, seen: metal3.StateProvisioned, want: true},
		"provisioned":                  {state: metal3.StateProvisioned, given: wantInstall, want: true},
		"externally provisioned":       {state: metal3.StateExternallyProvisioned, given: func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true }, want: true},
		"off":                          {state: metal3.StateAvailable, given: func(h *metal3.BareMetalHost) { h.Spec.Online = false }, want: true},
		"off, and ready":               {state: metal3.StateReady, given: func(h *metal3.BareMetalHost) { h.Spec.Online = false }, want: true},
		"off, to be on":                {state: metal3.StateAvailable, want: true},
		"off, to be deployed":          {state: metal3.StateAvailable, given: wantInstall, want: true},
		"on":                           {state: metal3.StateAvailable, given: func(h *metal3.BareMetalHost) { h.Status.PoweredOn = true }},
		"on, to be off":                {state: metal3.StateAvailable, given: func(h *metal3.BareMetalHost) { h.Status.PoweredOn, h.Spec.Online = true, false }},
		"on, to be deployed":           {state: metal3.StateAvailable, given: func(h *metal3.BareMetalHost) { h.Status.PoweredOn = true; wantInstall(h) }},
		"left alone":                   {state: metal3.StateAvailable, given: leftAlone(causeBaseline), want: true},
		"left alone, without its node": {state: metal3.StateAvailable, given: leftAlone(causeUnproven), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(c.state, ironic.StateManageable)
			o.Host.Status.Provisioning.ID, o.SeenIn, o.SeenOf = "before", c.seen, nodespec.MachineText(o.Host)
			o.Sight, o.Host.Spec.Online, o.Host.Status.PoweredOn = nodeaction.Missing(), true, false
			if c.given != nil {
				c.given(o.Host)
			}
			extra := nodespec.Enrolment(o.NodeInput()).Extra
			if do, is := Decide(o).Do.(Enrol); is {
				g.Expect(do.Enrolment.Extra).To(Equal(extra))
			}
			g.Expect(extra["ironflow_baseline"] == "unknown").To(Equal(c.want))
		})
	}
}

// leftAlone is a host whose machine is on, and is left alone.
func leftAlone(cause string) func(*metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) {
		h.Status.PoweredOn, h.Status.OperationalStatus, h.Status.ErrorType = true, metal3.OperationalStatusError, metal3.RegistrationError
		Summarise(h, Findings{Now: noon, Cause: cause})
	}
}

// TestPowerThatIsNotKnownIsNotOff waits for Ironic to learn whether the machine is on, touches nothing, and does not say that it is on.
func TestPowerThatIsNotKnownIsNotOff(t *testing.T) {
	for _, power := range []ironic.PowerState{"", "error", ironic.PowerRebooting} {
		t.Run(string(power), func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateAvailable, ironic.StateManageable)
			wantInstall(o.Host)
			full(o).Extra = map[string]any{"ironflow_baseline": "unknown"}
			full(o).PowerState, o.Node.PowerState = power, power
			o.Off = OffWord{Node: o.Node.UUID} // what Ironic says is of now
			settled(o)
			g.Expect(wanted(o).Extra).NotTo(HaveKey("ironflow_baseline"), "it stays")
			d := Decide(o)
			g.Expect(d.Do).To(BeNil())
			g.Expect(d.Status.ErrorType).To(BeEmpty())
			g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateAvailable))
			g.Expect(d.Wait.WaitingFor).To(ContainSubstring("Ironic to learn from the BMC"))
		})
	}
}
