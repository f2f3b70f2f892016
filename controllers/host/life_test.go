package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{
			AutomatedClean: true,
			RamdiskSteps:   []simulator.Step{{Interface: "deploy", Step: "start_assisted_install"}, {Interface: "deploy", Step: "confirm_install", Priority: 79}},
		}, policy.Settings{}, nil)
		took := w.untilState(metal3.StateAvailable, time.Minute)
		statuses, passes := w.counted()
		t.Logf("available after %s, %v, %d status patches, %d passes", took, w.sim.Counts(), statuses, passes)
		w.until("powered on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		w.sim.ResetCounts()
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "start_assisted_install"}
		})
		took = w.untilState(metal3.StateProvisioned, time.Minute)
		statuses, _ = w.counted()
		t.Logf("provisioned after %s, %v, %d status patches", took, w.sim.Counts(), statuses)
		g.Expect(w.host().Status.Provisioning.CustomDeploy.Method).To(Equal("start_assisted_install"))
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		took = w.untilState(metal3.StateAvailable, time.Minute)
		statuses, _ = w.counted()
		t.Logf("returned after %s, %d status patches", took, statuses)
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		took = w.until("gone", time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
		t.Logf("gone after %s, events %v", took, w.events.list())
		g.Expect(w.sim.Nodes()).To(BeEmpty())
		w.stop()
	})
}
