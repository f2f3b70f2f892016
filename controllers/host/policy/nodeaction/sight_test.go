package nodeaction

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

// TestWhatASightGives: the fields of a node that the watch does not keep, and the actions,
// are only to be had of a node that was read.
func TestWhatASightGives(t *testing.T) {
	n := ironic.Node{Row: ironic.Row{UUID: "u", ProvisionState: ironic.StateManageable}, Driver: "redfish"}
	now := ironic.Row{UUID: "u", ProvisionState: ironic.StateInspecting}
	for name, c := range map[string]struct {
		sight       Sight
		known, read bool
		state       ironic.ProvisionState
	}{
		"nobody looked": {Sight{}, false, false, ""},
		"missing":       {Missing(), false, false, ""},
		"summary":       {Summary(now), false, false, ironic.StateInspecting},
		"remembered":    {Remembered(n, now), true, false, ironic.StateInspecting},
		"just read":     {JustRead(&n), true, true, ironic.StateManageable},
		"its summary":   {JustRead(&n).Summary(), false, false, ironic.StateManageable},
		"its copy":      {JustRead(&n).Copy(), true, true, ironic.StateManageable},
		"copy of less":  {Remembered(n, now).Copy(), true, false, ironic.StateInspecting},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			k, known := c.sight.InFull()
			_, read := c.sight.AsRead()
			g.Expect([]bool{known, read}).To(Equal([]bool{c.known, c.read}))
			if c.state == "" {
				g.Expect(c.sight.Node).To(BeNil())
				return
			}
			g.Expect(c.sight.Node.ProvisionState).To(Equal(c.state))
			if known {
				g.Expect(k.ProvisionState).To(Equal(c.state), "one list of fields")
				g.Expect(k.Manage().Node().UUID).To(Equal("u"))
			}
		})
	}
	NewWithT(t).Expect(n.ProvisionState).To(Equal(ironic.StateManageable), "what is remembered stays as it was")
}

// TestACopyIsChangedApart: what a copy is expected to show does not show in the node itself.
func TestACopyIsChangedApart(t *testing.T) {
	g := NewWithT(t)
	s := JustRead(&ironic.Node{Row: ironic.Row{LastError: "no power"}})
	c := s.Copy()
	c.Node.LastError = ""
	g.Expect(s.Node.LastError).To(Equal("no power"))
	k, _ := c.InFull()
	g.Expect(k.LastError).To(BeEmpty())
}
