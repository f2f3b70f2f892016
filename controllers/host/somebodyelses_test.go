package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestAMachineThatIsSaidToBeSomebodyElsesIsNotGivenBack while that is said, whatever is asked for beside it.
func TestAMachineThatIsSaidToBeSomebodyElsesIsNotGivenBack(t *testing.T) {
	for name, change := range map[string]func(*metal3.BareMetalHost){
		"no image":      func(h *metal3.BareMetalHost) { h.Spec.Image = nil },
		"another image": askFor("http://images.test/another.img"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				let(time.Minute)
				w.sim.ResetCounts()
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
				let(time.Minute)
				w.edit(change)
				let(time.Hour)
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero())
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned, h.Spec.Image = false, nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
			})
		})
	}
}

// TestAMachineThatIsSaidToBeSomebodyElsesOutlivesItsHost: it is switched off, as one that was external all along.
func TestAMachineThatIsSaidToBeSomebodyElsesOutlivesItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		let(time.Minute)
		w.sim.ResetCounts()
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
		let(time.Minute)
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.until("gone", time.Hour, func(h *metal3.BareMetalHost) bool { return h == nil })
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero())
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(Equal(1))
		w.g.Expect(w.sim.Nodes()).To(BeEmpty())
	})
}
