package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestHealthAtRest turns a node Critical while nothing happens to its host, and well
// again: the host says so soon, without having read the node.
func TestHealthAtRest(t *testing.T) {
	for name, c := range map[string]struct {
		want func(*metal3.BareMetalHost)
		rest policy.State
	}{
		"available":   {nil, metal3.StateAvailable},
		"provisioned": {wantInstall, metal3.StateProvisioned},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, assisted(nil), policy.Settings{}, c.want)
				defer w.stop()
				w.untilState(c.rest, time.Minute)
				let(10 * time.Minute)
				w.sim.ResetCounts()
				for _, x := range []struct{ health, reason string }{
					{"Critical", metal3.CriticalHealthReason}, {"Warning", metal3.WarningHealthReason}, {"OK", metal3.HealthyReason},
				} {
					w.sim.Edit(nodespec.NodeName(w.host()), map[string]any{"health": x.health})
					w.until("told "+x.health, time.Minute, func(h *metal3.BareMetalHost) bool {
						return condition(h, metal3.HealthyCondition).Reason == x.reason
					})
				}
				g.Expect(w.sim.Counts()["GET /v1/nodes/{node}"]).To(BeZero())
			})
		})
	}
}

// TestHealthOfADetachedHost: nobody looks at its machine any more, so that nothing is
// said of it.
func TestHealthOfADetachedHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.sim.Edit(nodespec.NodeName(w.host()), map[string]any{"health": "OK"})
		w.until("told", time.Minute, func(h *metal3.BareMetalHost) bool {
			return condition(h, metal3.HealthyCondition).Reason == metal3.HealthyReason
		})
		w.annotate(metal3.DetachedAnnotation, "")
		w.until("detached", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.OperationalStatus == metal3.OperationalStatusDetached
		})
		let(time.Minute)
		NewWithT(t).Expect(condition(w.host(), metal3.HealthyCondition).Reason).To(Equal(metal3.UnknownHealthReason))
	})
}

// TestHealthOfAnOldIronic has an Ironic that does not know of health: nothing is said
// about it, and the host lives as any other.
func TestHealthOfAnOldIronic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := assisted(nil)
		o.MaxMinor = 108
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.sim.Edit(nodespec.NodeName(w.host()), map[string]any{"health": "Critical"})
		let(time.Hour)
		NewWithT(t).Expect(meta.FindStatusCondition(w.host().Status.Conditions, metal3.HealthyCondition)).To(BeNil())
	})
}
