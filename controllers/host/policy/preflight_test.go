package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// TestPreflight: no machine is started for wishes that cannot work.
func TestPreflight(t *testing.T) {
	const mismatch = "spec.raid.hardwareRAIDVolumes[0].level: 6 needs 4 disks, the controller has 2: write 1"
	for name, c := range map[string]struct {
		state   State
		verdict Preflight
		do      string
		err     metal3.ErrorType
		says    string
	}{
		"preparing, nobody asks":      {state: metal3.StatePreparing, do: "update node"},
		"preparing, not judged":       {state: metal3.StatePreparing, verdict: Preflight{On: true}, says: "a report of the BMC"},
		"preparing, judged":           {state: metal3.StatePreparing, verdict: Preflight{On: true, Judged: true}, do: "set RAID target"},
		"preparing, cannot work":      {state: metal3.StatePreparing, verdict: Preflight{On: true, Judged: true, Mismatch: mismatch}, err: metal3.PreparationError, says: mismatch},
		"inspecting, not judged":      {state: metal3.StateInspecting, verdict: Preflight{On: true}, says: "a report of the BMC"},
		"inspecting, judged":          {state: metal3.StateInspecting, verdict: Preflight{On: true, Judged: true}, do: "ask for inspect"},
		"inspecting, cannot work":     {state: metal3.StateInspecting, verdict: Preflight{On: true, Judged: true, Mismatch: mismatch}, err: metal3.InspectionError, says: mismatch},
		"inspecting, an old mismatch": {state: metal3.StateInspecting, verdict: Preflight{On: true, Mismatch: mismatch}, says: "a report of the BMC"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(c.state, ironic.StateManageable)
			if c.state == metal3.StatePreparing {
				wishRAID(mirror)(o)
			}
			if c.state == metal3.StatePreparing && c.verdict.On {
				ordered(noon, nil)(o)
			}
			o.NoInventory, o.Preflight = true, c.verdict
			if c.verdict.On {
				settled(o)
			}
			d := Decide(o)
			if c.err != "" {
				g.Expect(d.Status.ErrorType).To(Equal(c.err))
				g.Expect(d.Status.ErrorMessage).To(Equal(c.says))
				g.Expect(d.Do).To(BeNil())
				return
			}
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do), "%+v", d)
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}

// TestACorrectedWishGoesOn: the back-off of the error is not waited for.
func TestACorrectedWishGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		verdict Preflight
		goesOn  bool
	}{
		"still wrong":       {verdict: Preflight{On: true, Judged: true, Mismatch: "still"}},
		"not judged yet":    {verdict: Preflight{On: true}},
		"it can work now":   {verdict: Preflight{On: true, Judged: true}, goesOn: true},
		"nobody asks again": {verdict: Preflight{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StatePreparing, ironic.StateManageable)
			wishRAID(mirror)(o)
			ordered(noon, nil)(o)
			settled(o)
			o.Host.Status.OperationalStatus, o.Host.Status.ErrorType, o.Host.Status.ErrorMessage, o.Host.Status.ErrorCount = metal3.OperationalStatusError, metal3.PreparationError, "wrong", 1
			o.Host.Status.Conditions = []metav1.Condition{{
				Type: view.StalledCondition, Status: metav1.ConditionTrue, Reason: causePreflight, LastTransitionTime: metav1.NewTime(o.Now.Add(-time.Second)),
			}}
			o.Preflight = c.verdict
			d := Decide(o)
			if c.goesOn {
				g.Expect(d.Do).To(BeAssignableToTypeOf(nodeaction.SetRAID{}), "%+v", d)
				return
			}
			g.Expect(d.Do).To(BeNil(), "%+v", d)
			g.Expect(d.Status.ErrorType).To(Equal(metal3.PreparationError))
		})
	}
}
