package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestIronicIsLeftInPeaceWhenWorkIsCutOff ends what a host waits for in ways in which
// its node never comes to rest: nobody looks for that node every second afterwards.
func TestIronicIsLeftInPeaceWhenWorkIsCutOff(t *testing.T) {
	for name, cut := range map[string]func(w *world){
		"detached by force": func(w *world) {
			w.annotate(names.Detached, `{"force":true}`)
			w.until("detached", time.Minute, detached)
		},
		"the database was lost": func(w *world) {
			w.sim.Wipe()
			w.untilState(metal3.StateAvailable, 10*time.Minute)
		},
		"paused": func(w *world) { w.annotate(names.Paused, "") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, assisted(nil), policy.Settings{}, nil)
				defer w.stop()
				w.until("inspecting", time.Minute, func(h *metal3.BareMetalHost) bool {
					n, _ := w.sim.Node(nodespec.NodeName(h))
					return n.ProvisionState == "inspect wait"
				})
				cut(w)
				let(10 * time.Minute)
				w.sim.ResetCounts()
				let(10 * time.Minute)
				g.Expect(w.sim.Total("GET /v1/nodes")).To(BeNumerically("<=", 25), "%v", w.sim.Counts())
			})
		})
	}
}

// TestAnAddressWithSecretsIsNotWrittenAgain: of that of the live image, too, Ironic's answer is
// compared with what was asked for.
func TestAnAddressWithSecretsIsNotWrittenAgain(t *testing.T) {
	for name, c := range resting {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := policy.Settings{Settings: nodespec.Settings{DeployISO: "https://user:pw@images/live.iso?image_token=abc"}}
				w := newWorld(t, assisted(nil), s, c.want)
				defer func() { w.stop() }()
				w.untilState(c.rest, 2*time.Minute)
				let(time.Minute)
				w.sim.ResetCounts()
				for range 3 {
					w.annotate("example.com/note", time.Now().String())
					let(time.Minute)
					w.stop()
					w.start(s)
					let(time.Hour)
				}
				w.g.Expect(w.sim.Total("PATCH")).To(BeZero(), "%v", w.sim.Counts())
				w.g.Expect(w.touched()).To(BeEmpty())
			})
		})
	}
}
