package policy

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// TestAnAvailableMachineIsEmptiedFirst: whatever is asked for, except that it be off.
func TestAnAvailableMachineIsEmptiedFirst(t *testing.T) {
	wishes := map[string]func(*Observed){
		"nothing":     func(*Observed) {},
		"an image":    func(o *Observed) { o.Host.Spec.Image = &metal3.Image{URL: "http://images.test/second.img"} },
		"inspection":  func(o *Observed) { o.Host.Annotations = map[string]string{names.Inspect: ""} },
		"preparation": func(o *Observed) { o.Host.Spec.RootDeviceHints = &metal3.RootDeviceHints{DeviceName: "/dev/sdb"} },
		"to be off, which it must not be": func(o *Observed) {
			o.Host.Spec.Online, o.Host.Spec.DisablePowerOff = false, true
		},
	}
	for name, wish := range wishes {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateAvailable, ironic.StateAvailable)
			wish(o)
			applied := wanted(o)
			o.Applied = &applied
			o.Media = Media{Pending: true}
			g.Expect(Decide(o).Do).To(Equal(SettleMedia{}))
			o.Media = Media{Pending: true, Asked: true, Note: "it is stuck"}
			d := Decide(o)
			g.Expect(d.Do).To(BeNil())
			g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateAvailable))
			g.Expect(d.Wait.Message()).To(And(ContainSubstring("former use"), ContainSubstring("it is stuck")))
		})
	}
	t.Run("to be off", func(t *testing.T) {
		g := NewWithT(t)
		o := observed(metal3.StateAvailable, ironic.StateAvailable)
		o.Host.Spec.Online = false
		applied := wanted(o)
		o.Applied = &applied
		o.Media = Media{Pending: true, Asked: true}
		g.Expect(Decide(o).Do).To(BeAssignableToTypeOf(nodeaction.Power{}))
	})
}

func TestMachinesStartWithTheirMedia(t *testing.T) {
	off := func(o *Observed) { o.Node.PowerState, o.Host.Status.PoweredOn = ironic.PowerOff, false }
	never := func(o *Observed) {
		o.Host.Spec.DisablePowerOff = true
		o.Host.Annotations = map[string]string{names.Reboot: ""}
		applied := wanted(o)
		o.Applied = &applied
	}
	pending, asked := Media{Pending: true}, Media{Pending: true, Asked: true, Note: "404"}
	for name, c := range map[string]struct {
		given func(*Observed)
		media Media
		do    Action
		says  string
	}{
		"nothing stands in the way":          {off, Media{}, nodeaction.Power{}, ""},
		"the media are asked for first":      {off, pending, SettleMedia{}, ""},
		"and waited for":                     {off, asked, nil, "404"},
		"a machine that is never off":        {never, pending, SettleMedia{Restart: true}, ""},
		"a machine that is never off, asked": {never, asked, nil, "404"},
		"a running machine is left alone":    {func(*Observed) {}, pending, nil, ""},
		"power off needs no media":           {func(o *Observed) { o.Host.Spec.Online = false }, pending, nodeaction.Power{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateProvisioned, ironic.StateActive)
			o.Host.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "m"}
			o.Host.Status.Provisioning.CustomDeploy = &metal3.CustomDeploy{Method: "m"}
			applied := wanted(o)
			o.Applied = &applied
			c.given(o)
			o.Media = c.media
			d := Decide(recorded(o))
			if c.do == nil {
				g.Expect(d.Do).To(BeNil())
			} else {
				g.Expect(d.Do).To(BeAssignableToTypeOf(c.do))
			}
			if s, ok := c.do.(SettleMedia); ok {
				g.Expect(d.Do).To(Equal(s))
			}
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}
