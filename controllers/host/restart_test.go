package host

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
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
		defer func() { w.stop() }()
		w.knowHeartbeats()
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

// TestAnAgentThatCallsSeldomIsNotLost: how often a ramdisk calls is Ironic's own setting ([api]ramdisk_heartbeat_timeout,
// of which a ramdisk takes 0.3 to 0.6), which is raised for large fleets.
func TestAnAgentThatCallsSeldomIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Deploy = time.Hour
		o.Heartbeat = 5 * time.Minute // of a time-out of 600 s
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilNode("lab~host-1", "wait call-back", 5*time.Minute)
		w.sim.ResetCounts()
		let(30 * time.Minute)
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
		w.g.Expect(w.events.list()).NotTo(ContainElement("AgentLost"))
	})
}

// TestAMachineIsRestartedOnceForOneReason: once in a deployment, whoever says that it was cut off, and however often the
// controller is restarted meanwhile.
func TestAMachineIsRestartedOnceForOneReason(t *testing.T) {
	cutOff := func(w *world) {
		w.report(policy.Progress{Stage: "error", CutOff: time.Now().Add(-30 * time.Second), Failure: "The host restarted unexpectedly", FailedAt: time.Now()})
	}
	silent := func(w *world) { w.sim.LoseAgent(nodespec.NodeName(w.host()), true) }
	for name, says := range map[string]func(*world){"the hub": cutOff, "Ironic": silent, "both": func(w *world) { cutOff(w); silent(w) }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := assisted(nil)
				o.Delays = delays
				o.Delays.Deploy = 5 * time.Hour
				w := newWorld(t, o, policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.knowHeartbeats()
				restarts := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/power"] }
				w.untilInstalling()
				let(time.Minute)
				w.sim.ResetCounts()
				says(w)
				let(10 * time.Minute)
				w.g.Expect(restarts()).To(Equal(1))
				for range 3 {
					w.stop()
					w.start(policy.Settings{})
					w.progressed <- w.key
					let(10 * time.Minute)
				}
				w.g.Expect(restarts()).To(Equal(1))
			})
		})
	}
}

// TestTheNextDeploymentIsRestartedForItsOwnReason: that one was restarted says nothing of the next.
func TestTheNextDeploymentIsRestartedForItsOwnReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Deploy = 5 * time.Hour
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		restarts := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/power"] }
		cutOff := func() {
			let(time.Minute)
			w.report(policy.Progress{Stage: "error", CutOff: time.Now().Add(-30 * time.Second), Failure: "The host restarted unexpectedly", FailedAt: time.Now()})
			let(time.Minute)
		}
		w.untilInstalling()
		w.sim.ResetCounts()
		cutOff()
		w.g.Expect(restarts()).To(Equal(1))
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		w.g.Expect(w.host().Annotations).NotTo(HaveKey(names.Rebooting))
		w.edit(wantInstall)
		w.untilInstalling()
		w.sim.ResetCounts()
		cutOff()
		w.g.Expect(restarts()).To(Equal(1))
	})
}

// TestARestartThatIsTurnedAwayIsAskedForAgain, also by a controller that was started meanwhile: and never twice.
func TestARestartThatIsTurnedAwayIsAskedForAgain(t *testing.T) {
	for name, c := range map[string]struct{ moved, restarted bool }{
		"whoever held the node has changed it":                 {true, true},
		"nothing of it has changed":                            {false, true},
		"whoever held the node has changed it, one controller": {true, false},
		"nothing of it has changed, one controller":            {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
					wantInstall(h)
					h.Spec.DisablePowerOff = true
				})
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				let(time.Minute)
				w.sim.ResetCounts()
				var locked atomic.Bool
				locked.Store(true)
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/states/power") || !locked.Load() {
						return nil
					}
					return &simulator.Fault{Status: http.StatusConflict, Text: "Node is locked by host conductor-1"}
				})
				restarts := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/power"] }
				w.annotate(names.Reboot, `{"mode":"hard"}`)
				// Not at a moment in which it is asked for: that it was turned away is recorded after the answer.
				let(31 * time.Second)
				w.g.Expect(restarts()).To(BeNumerically("~", 10, 3), "it is asked for every three seconds")
				if c.restarted {
					w.stop()
				}
				locked.Store(false)
				w.sim.ResetCounts()
				if c.moved {
					w.sim.Edit("lab~host-1", map[string]any{"description": "looked after"})
				}
				if c.restarted {
					w.start(policy.Settings{})
				}
				let(10 * time.Minute)
				w.g.Expect(restarts()).To(Equal(1), "however often it is looked at")
				w.g.Expect(w.host().Annotations).NotTo(HaveKey(names.Rebooting))
			})
		})
	}
}

// TestOneRestartForOneWish: a machine that was switched off for a restart, and that
// somebody switches on before that was seen, is not switched off again.
func TestOneRestartForOneWish(t *testing.T) {
	for name, value := range map[string]string{"soft": "", "hard": forcedHard} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := assisted(nil)
				o.Delays = delays
				w := newWorld(t, o, policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
				let(time.Minute)
				w.sim.ResetCounts()
				w.annotate(names.Reboot, value)
				requests := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/power"] }
				for requests() == 0 {
					let(10 * time.Millisecond)
				}
				w.stop() // before the machine is off
				let(10 * time.Minute)
				n, _ := w.sim.Node(nodespec.NodeName(w.host()))
				w.g.Expect(n.PowerState).To(BeEquivalentTo("power off"))
				w.g.Expect(w.host().Annotations).To(HaveKey(names.Reboot))
				w.sim.Edit("lab~host-1", map[string]any{"power_state": "power on"})
				w.start(policy.Settings{})
				let(time.Hour)
				w.g.Expect(requests()).To(Equal(1))
				w.g.Expect(w.host().Annotations).NotTo(Or(HaveKey(names.Reboot), HaveKey(names.Rebooting)))
				w.g.Expect(w.host().Status.PoweredOn).To(BeTrue())
				w.sim.ResetCounts()
				w.annotate(names.Reboot, value)
				let(time.Hour)
				w.g.Expect(requests()).To(Equal(2), "the next wish is carried out: off and on")
				w.g.Expect(w.host().Annotations).NotTo(Or(HaveKey(names.Reboot), HaveKey(names.Rebooting)))
				w.g.Expect(w.host().Status.PoweredOn).To(BeTrue())
			})
		})
	}
}

// TestARebootWithoutForceOfADeployment neither starts it over nor restarts what it has installed.
func TestARebootWithoutForceOfADeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Deploy = time.Minute // longer than two looks at the node are apart
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilInstalling()
		w.annotate(names.Reboot, "")
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		w.sim.ResetCounts()
		let(time.Hour)
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
		w.g.Expect(w.host().Annotations).NotTo(HaveKey(names.Reboot))
		w.g.Expect(w.host().Status.PoweredOn).To(BeTrue())
		w.g.Expect(w.events.list()).NotTo(ContainElement("ForcedReboot"))
	})
}

// untilInstalling waits until the live image of a deployment installs.
func (w *world) untilInstalling() {
	w.t.Helper()
	w.until("installing", 2*time.Minute, func(h *metal3.BareMetalHost) bool {
		n, _ := w.sim.Node(nodespec.NodeName(h))
		return n.ProvisionState == "wait call-back" && strings.Contains(condition(h, metal3.ProgressingCondition).Message, names.StartAssistedInstall)
	})
}

// TestAKeyKeepsAMachineOffUntilItsOwnerTakesItAway: reboot.metal3.io/KEY is its client's, who takes it away, whatever becomes
// of the host meanwhile.
func TestAKeyKeepsAMachineOffUntilItsOwnerTakesItAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		const fence = names.Reboot + "/fencing-agent"
		w.annotate(fence, "")
		w.until("off", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return !h.Status.PoweredOn })
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		w.untilState(metal3.StateAvailable, 5*time.Minute)
		w.annotate(names.Inspect, "")
		w.untilState(metal3.StateInspecting, 5*time.Minute)
		w.untilState(metal3.StateAvailable, 5*time.Minute)
		w.edit(wantInstall)
		w.untilState(metal3.StateProvisioned, 5*time.Minute)
		let(10 * time.Minute)
		w.g.Expect(w.host().Annotations).To(HaveKey(fence))
		w.g.Expect(w.host().Status.PoweredOn).To(BeFalse())
		w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, fence) })
		w.until("on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
	})
}

// TestAKeyWithForceEndsAnOperationUntilItsOwnerTakesItAway: it counts whatever the host does. What it has ended is begun anew
// once the key is gone, and not before.
func TestAKeyWithForceEndsAnOperationUntilItsOwnerTakesItAway(t *testing.T) {
	const fence = names.Reboot + "/fencing-agent"
	for name, c := range map[string]struct {
		node  string
		state policy.State
	}{
		"an inspection": {"inspect wait", metal3.StateInspecting},
		"a deployment":  {"wait call-back", metal3.StateProvisioning},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := assisted(nil)
				o.Delays = delays
				o.Delays.Inspect, o.Delays.Deploy = time.Minute, time.Minute
				w := newWorld(t, o, policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.untilNode("lab~host-1", c.node, 10*time.Minute)
				w.annotate(fence, `{"force":true}`)
				let(time.Minute)
				w.sim.ResetCounts()
				let(time.Hour)
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero(), "nothing is begun")
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(c.state))
				w.g.Expect(w.host().Annotations).To(HaveKey(fence))
				w.g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring(fence))
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, fence) })
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
			})
		})
	}
}
