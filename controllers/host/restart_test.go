package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestBackInDiscovery: the hub sees the machine again in the middle of its
// installation. Ironic reboots it once, whatever the hub thinks of the
// installation, so that confirm_install gives the reason.
func TestBackInDiscovery(t *testing.T) {
	for name, c := range map[string]struct {
		// cutOff is when the installation had begun, counted from the report.
		cutOff  time.Duration
		reboots int
		says    string
	}{
		"this deployment's installation": {-30 * time.Second, 1, "the fresh live image to say why the installation was cut off"},
		"an earlier deployment's":        {-time.Hour, 0, "the deploy step to report the failure itself"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				o := assisted(nil)
				o.Delays = delays
				o.Delays.Deploy = time.Hour
				w := newWorld(t, o, policy.Settings{}, wantInstall)
				defer w.stop()
				w.until("installing", time.Minute, func(h *metal3.BareMetalHost) bool {
					return strings.Contains(condition(h, metal3.ProgressingCondition).Message, names.StartAssistedInstall)
				})
				let(time.Minute)
				w.sim.ResetCounts()
				w.report(policy.Progress{
					Stage: "error", CutOff: time.Now().Add(c.cutOff), Failure: "The host restarted unexpectedly", FailedAt: time.Now(),
				})
				let(5 * time.Second)
				counts := w.sim.Counts()
				g.Expect(counts["PUT /v1/nodes/{node}/states/power"]).To(Equal(c.reboots))
				g.Expect(counts["PUT /v1/nodes/{node}/states/provision"]).To(BeZero(), "the step or the next one gives the reason")
				if c.reboots > 0 {
					g.Expect(w.events.list()).To(ContainElement("AgentLost"))
					return
				}
				g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring(c.says))
			})
		})
	}
}

// TestSilenceOfABygoneDeployment: an agent that fell silent while nobody was to act
// is no reason to restart the machine in its next deployment.
func TestSilenceOfABygoneDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Deploy = time.Hour
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer w.stop()
		installing := func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "wait call-back" && strings.Contains(condition(h, metal3.ProgressingCondition).Message, names.StartAssistedInstall)
		}
		w.until("installing", time.Minute, installing)
		w.annotate(names.Hold, "")
		w.sim.LoseAgent(nodespec.NodeName(w.host()), true)
		w.until("noticed", 20*time.Minute, func(*metal3.BareMetalHost) bool {
			return w.rec.memories.Get(w.key).LostAgent != memory.Silence{}
		})
		w.edit(func(h *metal3.BareMetalHost) {
			delete(h.Annotations, names.Hold)
			h.Spec.CustomDeploy = nil
		})
		w.untilState(metal3.StateDeprovisioning, time.Minute)
		w.sim.LoseAgent(nodespec.NodeName(w.host()), false) // the next live image speaks
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		w.edit(wantInstall)
		w.until("installing again", time.Minute, installing)
		let(time.Minute)
		g.Expect(w.events.list()).NotTo(ContainElement("AgentLost"))
	})
}
