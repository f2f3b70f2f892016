package policy

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/ironic"
)

func TestSlots(t *testing.T) {
	needed := func(o *Observed) { o.Slot.Needed = true }
	asked := func(o *Observed) {
		o.Slot = Slot{Needed: true, Asked: true, Verdict: capacity.Verdict{Limit: "failure domain rack-1", Of: 2, Ahead: 3}}
	}
	granted := func(o *Observed) { o.Slot = Slot{Needed: true, Granted: true} }
	delayed := func(o *Observed) { o.Host.Status.OperationalStatus = metal3.OperationalStatusDelayed }
	uninspected := func(o *Observed) { o.NoInventory = true }
	for name, c := range map[string]struct {
		state State
		node  ironic.ProvisionState
		given []func(*Observed)
		do    string
		says  string
		is    metal3.OperationalStatus
	}{
		"no limit":            {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){uninspected}, do: "ask for inspect", is: metal3.OperationalStatusOK},
		"a slot is asked for": {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){uninspected, needed}, do: "take a slot", is: metal3.OperationalStatusOK},
		"no slot is free": {
			state: metal3.StateInspecting, node: ironic.StateManageable,
			given: []func(*Observed){uninspected, asked},
			says:  "waiting for capacity: limit of failure domain rack-1 is 2; waiting for hosts at work to be done; 3 came first",
			is:    metal3.OperationalStatusDelayed,
		},
		"a slot is granted": {
			state: metal3.StateInspecting, node: ironic.StateManageable,
			given: []func(*Observed){uninspected, granted, delayed},
			do:    "ask for inspect", is: metal3.OperationalStatusOK,
		},
		"looking takes none":           {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){needed}, do: "read inventory", is: metal3.OperationalStatusOK},
		"cleaning before a deployment": {state: metal3.StateProvisioning, node: ironic.StateManageable, given: []func(*Observed){wantImage, needed}, do: "take a slot", is: metal3.OperationalStatusOK},
		"giving back takes one":        {state: metal3.StateDeprovisioning, node: ironic.StateActive, given: []func(*Observed){needed}, do: "take a slot", is: metal3.OperationalStatusOK},
		"ending what runs takes none":  {state: metal3.StateDeprovisioning, node: ironic.StateDeployWait, given: []func(*Observed){needed}, do: "ask for deleted", is: metal3.OperationalStatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(c.state, c.node)
			o.Host.Status.OperationalStatus = metal3.OperationalStatusOK
			for _, change := range c.given {
				change(o)
			}
			if want := wanted(o); o.Applied == nil || !sameDesired(*o.Applied, want) {
				o.Applied = &want
			}
			d := Decide(o)
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do))
			g.Expect(d.Status.OperationalStatus).To(Equal(c.is))
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}

// wantImage asks for an image.
func wantImage(o *Observed) {
	o.Host.Spec.Image = &metal3.Image{URL: "http://images/system.qcow2", Checksum: "http://images/sums"}
}
