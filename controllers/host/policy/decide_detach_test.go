package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// TestLettingGoWaitsForNothing: neither the back-off of what failed nor credentials are
// needed to take a node out of Ironic, nor to stay without one, nor to come back.
func TestLettingGoWaitsForNothing(t *testing.T) {
	wanted := func(o *Observed) { o.Host.Annotations = map[string]string{names.Detached: ""} }
	detached := func(o *Observed) { o.Host.Status.OperationalStatus = metal3.OperationalStatusDetached }
	failing := func(o *Observed) { stalled(o, metal3.PowerManagementError, "PowerManagementError", time.Second) }
	givenUp := func(o *Observed) { stalled(o, metal3.ProvisioningError, causeGivenUp, time.Hour) }
	unusable := func(o *Observed) { o.BMC.Problem = "the BMC's Secret \"bmc\" does not exist" }
	for name, c := range map[string]struct {
		state State
		given []func(*Observed)
		do    string
		says  string
		back  metal3.OperationalStatus // after being attached again
	}{
		"failing":                             {state: metal3.StateAvailable, given: []func(*Observed){wanted, failing}, do: "remove node"},
		"given up":                            {state: metal3.StateAvailable, given: []func(*Observed){wanted, givenUp}, do: "remove node"},
		"no credentials":                      {state: metal3.StateAvailable, given: []func(*Observed){wanted, unusable}, do: "remove node"},
		"failing, in no state to be detached": {state: metal3.StateInspecting, given: []func(*Observed){wanted, failing}, says: "after a failure"},
		"detached, no credentials":            {state: metal3.StateAvailable, given: []func(*Observed){wanted, unusable, detached}, says: "detached"},
		"detached, failing":                   {state: metal3.StateAvailable, given: []func(*Observed){wanted, failing, detached}, says: "detached"},
		"to be attached, failing":             {state: metal3.StateAvailable, given: []func(*Observed){failing, detached}, back: metal3.OperationalStatusError},
		"to be attached, no credentials":      {state: metal3.StateAvailable, given: []func(*Observed){unusable, detached}, back: metal3.OperationalStatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			node := ironic.StateManageable
			if c.state == metal3.StateAvailable {
				node = ironic.StateAvailable
			}
			o := observed(c.state, node)
			for _, given := range c.given {
				given(o)
			}
			d := Decide(o)
			g.Expect(d.NewlyFailing()).To(BeFalse())
			switch {
			case c.do != "":
				g.Expect(d.Do).NotTo(BeNil(), "it waits: %+v", d.Wait)
				g.Expect(d.Do.Name()).To(Equal(c.do))
			case c.says != "":
				g.Expect(d.Do).To(BeNil())
				g.Expect(d.Wait.Step).To(Equal(c.says))
				g.Expect(d.Status.OperationalStatus).To(Equal(o.Host.Status.OperationalStatus))
			default:
				g.Expect(d.Status.OperationalStatus).To(Equal(c.back))
				g.Expect(d.Again).To(BeTrue())
			}
		})
	}
}

// TestAHostWithoutAStatusThatIsDetached is no new one: its status was lost, and its machine may run what was deployed.
func TestAHostWithoutAStatusThatIsDetached(t *testing.T) {
	for name, c := range map[string]struct {
		state  State
		given  func(*Observed)
		do     Action
		status metal3.OperationalStatus
		enter  State
		says   string
	}{
		"its node is looked for":         {state: StateNone, given: func(o *Observed) { o.Sight = nodeaction.Sight{} }, do: LookUp{}},
		"there is none":                  {state: StateNone, status: metal3.OperationalStatusDetached},
		"there is one":                   {state: StateNone, given: func(o *Observed) { o.Sight = observed(metal3.StateAvailable, ironic.StateActive).Sight }, enter: metal3.StateRegistering},
		"it was about to be registered":  {state: metal3.StateRegistering, status: metal3.OperationalStatusDetached},
		"known as detached":              {state: StateNone, given: knownDetached, status: metal3.OperationalStatusDetached, says: names.Detached},
		"without the annotation":         {state: StateNone, given: func(o *Observed) { o.Host.Annotations = nil }, enter: metal3.StateRegistering},
		"the annotation went":            {state: StateNone, given: func(o *Observed) { knownDetached(o); o.Host.Annotations = nil }, status: metal3.OperationalStatusOK},
		"to be deleted":                  {state: StateNone, given: deletedNow, enter: StateDeleting},
		"to be deleted, known":           {state: StateNone, given: func(o *Observed) { knownDetached(o); deletedNow(o) }, enter: StateDeleting, status: metal3.OperationalStatusDetached},
		"without a BMC it is discovered": {state: StateNone, given: func(o *Observed) { o.Host.Spec.BMC = metal3.BMCDetails{} }, enter: metal3.StateUnmanaged, status: metal3.OperationalStatusDiscovered},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(c.state, ironic.StateManageable)
			o.Sight, o.Applied = nodeaction.Missing(), nil
			o.Host.Status = metal3.BareMetalHostStatus{Provisioning: metal3.ProvisionStatus{State: c.state}}
			o.Host.Annotations = map[string]string{names.Detached: ""}
			if c.given != nil {
				c.given(o)
			}
			d := Decide(o)
			if c.do == nil {
				g.Expect(d.Do).To(BeNil())
			} else {
				g.Expect(d.Do).To(Equal(c.do))
			}
			if c.enter == "" {
				c.enter = c.state
			}
			g.Expect(d.Status.Provisioning.State).To(Equal(c.enter))
			if c.status != "" {
				g.Expect(d.Status.OperationalStatus).To(Equal(c.status))
			}
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}

func knownDetached(o *Observed) { o.Host.Status.OperationalStatus = metal3.OperationalStatusDetached }

// machineKept has the status tell which machine the host's node is of.
func machineKept(o *Observed) {
	d := &Decision{}
	concernMachine(o, d)
	o.Host.Status.Conditions = append(o.Host.Status.Conditions, d.Status.Conditions...)
}

func deletedNow(o *Observed) { now := metav1.NewTime(noon); o.Host.DeletionTimestamp = &now }

// TestTheMachineOfAHostIsItsNodes: the address may have been changed before that was recorded, and a node that
// baremetal-operator has enrolled tells of its machine by driver_info alone. One that is yet to be verified tells nothing.
func TestTheMachineOfAHostIsItsNodes(t *testing.T) {
	for name, kept := range map[string]string{"by driver_info": "", "by what is kept on it": "bmc redfish first.test 443"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateAvailable, ironic.StateAvailable)
			o.Host.Spec.BMC.Address = "redfish://second.test/redfish/v1/Systems/1"
			full(o).Machine, full(o).DriverInfo = kept, map[string]any{"redfish_address": "https://first.test", "redfish_system_id": "/redfish/v1/Systems/1"}
			d := &Decision{}
			concernMachine(o, d)
			g.Expect(RecordedMachine(&d.Status)).To(HavePrefix("bmc redfish first.test 443"))
			o.Host.Status.Conditions = d.Status.Conditions
			g.Expect(isMoved(o.Host)).To(BeTrue())
			g.Expect(nodespec.InDoubt(&o.Host.Status)).To(BeFalse())
			d = &Decision{}
			concernMachine(o, d)
			g.Expect(RecordedMachine(&d.Status)).To(Equal(RecordedMachine(&o.Host.Status)))
			g.Expect(nodespec.InDoubt(&d.Status)).To(BeTrue(), "that it was free is of the former one")
			o.Host.Status.Conditions = d.Status.Conditions
			o.Node.ProvisionState, o.Node.Machine = ironic.StateVerifying, nodespec.MachineText(o.Host)
			d = &Decision{}
			concernMachine(o, d)
			g.Expect(d.Status.Conditions).To(BeEmpty())
		})
	}
}
