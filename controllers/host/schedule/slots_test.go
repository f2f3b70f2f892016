package schedule

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestAPlaceInLineIsTheHosts has a host in line behind one at work, and shows which ends
// of its passes cost it its place.
func TestAPlaceInLineIsTheHosts(t *testing.T) {
	ahead := types.NamespacedName{Namespace: "lab", Name: "ahead"}
	behind := types.NamespacedName{Namespace: "lab", Name: "behind"}
	for name, c := range map[string]struct {
		after  func(*policy.Observed)
		ending Ending
		keeps  bool
	}{
		"it asks":                        {after: func(o *policy.Observed) { o.Slot.Asked = true }, keeps: true},
		"it asks, and shows an error":    {after: func(o *policy.Observed) { o.Slot.Asked = true; o.Host.Status.ErrorType = metal3.InspectionError }, keeps: true},
		"it does not ask any more":       {after: func(*policy.Observed) {}},
		"an error, and not due":          {after: func(o *policy.Observed) { o.Host.Status.ErrorType = metal3.InspectionError }},
		"Ironic did not answer before":   {after: func(*policy.Observed) {}, ending: Unanswered, keeps: true},
		"an error ended the pass before": {after: func(*policy.Observed) {}, ending: CutShort, keeps: true},
		"in another phase, which has no work": {after: func(o *policy.Observed) {
			o.Slot.Asked = true
			o.Host.Status.Provisioning.State = metal3.StateAvailable
		}},
		"no limit concerns it any more": {after: func(o *policy.Observed) { o.Slot.Needed = false }, ending: CutShort},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := Slots{Queue: capacity.New(capacity.Limits{Total: 1})}
			var woken []types.NamespacedName
			s.Queue.OnGrant(func(key types.NamespacedName) { woken = append(woken, key) })
			s.Queue.Hold(ahead, capacity.Place{})
			o := &policy.Observed{Host: &metal3.BareMetalHost{}}
			o.Host.Namespace, o.Host.Name = "lab", "host"
			o.Host.Status.Provisioning.State = metal3.StateInspecting
			s.Observe(o)
			s.Take(o)
			g.Expect(o.Slot.Granted).To(BeFalse())
			g.Expect(s.Queue.Ask(behind, capacity.Place{}).Granted).To(BeFalse())

			s.Observe(o)
			o.Slot.Asked = false // as a pass begins
			c.after(o)
			s.Settle(o, c.ending)
			s.Queue.Leave(ahead)
			first := behind
			if c.keeps {
				first = types.NamespacedName{Namespace: "lab", Name: "host"}
			}
			g.Expect(woken).To(HaveExactElements(first))
		})
	}
}

// TestAGrantedSlotIsNotKeptForNothing: a host that has its slot and did not begin gives it
// back, unless it may have begun.
func TestAGrantedSlotIsNotKeptForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		ending Ending
		keeps  bool
	}{
		"it rests": {ending: Complete}, "each of its passes fails": {ending: CutShort}, "Ironic does not answer": {ending: Unanswered, keeps: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := Slots{Queue: capacity.New(capacity.Limits{Total: 1})}
			o := &policy.Observed{Host: &metal3.BareMetalHost{}}
			o.Host.Namespace, o.Host.Name = "lab", "host"
			o.Host.Status.Provisioning.State = metal3.StateInspecting
			o.Host.Status.ErrorType = metal3.InspectionError
			s.Observe(o)
			s.Take(o)
			g.Expect(o.Slot.Granted).To(BeTrue())
			s.Settle(o, c.ending)
			g.Expect(s.Queue.Holds(types.NamespacedName{Namespace: "lab", Name: "host"})).To(Equal(c.keeps))
		})
	}
}
