package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// bmcEvents stand for what receives the events of BMCs.
type bmcEvents struct {
	tell func(key types.NamespacedName, power bool)
}

// OnHost implements schedule.Events.
func (e *bmcEvents) OnHost(tell func(key types.NamespacedName, power bool)) { e.tell = tell }

const putPower = "PUT /v1/nodes/{node}/states/power"

// TestIronicLooksAtAMachineWhoseBMCTells: an event about power has Ironic look at once,
// others do not, and a flood of them costs no more than a look in ten seconds.
func TestIronicLooksAtAMachineWhoseBMCTells(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *metal3.BareMetalHost)
		tell   func(e *bmcEvents)
		looks  int
	}{
		"nothing was told":  {tell: func(*bmcEvents) {}},
		"something else":    {tell: func(e *bmcEvents) { e.tell(lab, false) }},
		"power":             {tell: func(e *bmcEvents) { e.tell(lab, true) }, looks: 1},
		"power, many times": {tell: func(e *bmcEvents) { flood(e, 100, 100*time.Millisecond) }, looks: 2},
		"power, of a machine that is to be off": {
			change: func(h *metal3.BareMetalHost) { h.Spec.Online = false }, tell: func(e *bmcEvents) { e.tell(lab, true) }, looks: 1,
		},
		"power, of a machine that must not be switched off": {
			change: func(h *metal3.BareMetalHost) { h.Spec.Online, h.Spec.DisablePowerOff = false, true }, tell: func(e *bmcEvents) { e.tell(lab, true) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				told := &bmcEvents{}
				w := newWorldWith(t, simulator.Options{}, Options{Events: told}, c.change)
				defer w.stop()
				w.untilState(metal3.StateAvailable, 2*time.Minute)
				let(5 * time.Minute)
				before := w.sim.Counts()[putPower]
				w.sim.ResetCounts()
				c.tell(told)
				let(30 * time.Second)
				g.Expect(w.sim.Counts()[putPower]).To(Equal(c.looks), "%d before", before)
				h := w.host()
				g.Expect(h.Status.ErrorMessage).To(BeEmpty())
				g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateAvailable))
			})
		})
	}
}

func flood(e *bmcEvents, n int, pause time.Duration) {
	for range n {
		e.tell(lab, true)
		let(pause)
	}
}

// TestAChangeOfPowerIsSeenAtOnce: what Ironic has noticed itself does not wait for the
// next look at its nodes once the BMC has told.
func TestAChangeOfPowerIsSeenAtOnce(t *testing.T) {
	took := map[bool]time.Duration{}
	for _, tells := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			told := &bmcEvents{}
			w := newWorldWith(t, simulator.Options{}, Options{Events: told}, nil)
			defer w.stop()
			w.untilAtRest()
			let(5 * time.Minute)
			node := w.host().Status.Provisioning.ID
			w.sim.ResetCounts()
			w.until("right after a look", time.Minute, func(*metal3.BareMetalHost) bool { return w.sim.Total("GET /v1/nodes") > 0 })
			synctest.Wait() // the look is counted before it is answered
			w.sim.Edit(node, map[string]any{"power_state": "power off"})
			if tells {
				told.tell(lab, true)
			}
			begin := time.Now()
			w.until("switched on again", 5*time.Minute, func(*metal3.BareMetalHost) bool { return w.sim.Counts()[putPower] > 0 })
			took[tells] = time.Since(begin)
		})
	}
	t.Logf("switched on again after %s without, %s with the event", took[false], took[true])
	NewWithT(t).Expect(took[true]).To(BeNumerically("<", time.Second))
	NewWithT(t).Expect(took[false]).To(BeNumerically(">", 2*time.Second), "it would have been seen as soon without")
}
