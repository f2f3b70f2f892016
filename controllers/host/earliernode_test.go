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
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// the backup names, and something was installed on it without us. That the node was free once says nothing of that.
func TestABackupOfAnEarlierNodeIsNotBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		loses func(*world)
		then  func(*world, *metal3.BareMetalHost) // frees the new node
	}{
		"given back since": {func(w *world) { w.sim.Wipe() }, func(w *world, _ *metal3.BareMetalHost) {
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online, h.Spec.Image = false, nil })
		}},
		"detached, and said to be free by another backup": {
			func(w *world) {
				w.annotate(names.Detached, "")
				w.until("detached", time.Minute, detached)
			},
			func(w *world, free *metal3.BareMetalHost) {
				w.halt()
				free.Spec.Online = true // a machine that is off is switched on by it
				w.putBack(free)
				w.start(policy.Settings{})
			},
		},
	} {
		for _, state := range []metal3.ProvisioningState{metal3.StateInspecting, metal3.StateProvisioning} {
			t.Run(name+"/"+string(state), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
						h.Spec.Online, h.Spec.AutomatedCleaningMode = false, metal3.CleaningModeDisabled
					})
					defer func() { w.stop() }()
					free := w.backup(metal3.StateAvailable)
					w.edit(func(h *metal3.BareMetalHost) {
						h.Spec.Online = true
						askFor("http://images.test/first.img")(h)
					})
					atWork := w.backup(metal3.StateProvisioning)
					atWork.Status.Provisioning.State = state
					w.untilState(metal3.StateProvisioned, 10*time.Minute)
					let(time.Minute)
					former := w.host().Status.Provisioning.ID
					c.loses(w)
					c.then(w, free)
					w.until("free by another node", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
						return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.Provisioning.ID != former && h.Status.ErrorType == ""
					})
					let(time.Hour)
					w.sim.ResetCounts()
					w.halt()
					w.putBack(atWork)
					w.start(policy.Settings{})
					let(time.Hour)
					h := w.host()
					w.g.Expect(condition(h, "Stalled").Reason).To(Equal("MachineMayBeInUse"), h.Status.ErrorMessage)
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero())
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())

					w.annotate(names.Inspect, "")
					w.until("goes on", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == "" && rests(h) })
				})
			})
		}
	}
}

// TestAMachineThatIsRegisteredAnewIsSeenToBeInUse by its node, which is gone before the host has come so far as to say so.
func TestAMachineThatIsRegisteredAnewIsSeenToBeInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		let(time.Minute)
		w.madeAnew(nil)
		var lost atomic.Bool
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method != http.MethodPatch || lost.Load() {
				return nil
			}
			return &simulator.Fault{Status: http.StatusConflict, Text: "node is locked by host other, please retry after the current operation is completed."}
		})
		w.start(policy.Settings{})
		w.until("registering by the node that there is", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateRegistering && h.Status.Provisioning.ID != ""
		})
		lost.Store(true)
		w.sim.Wipe()
		w.sim.ResetCounts()
		w.enrolledAgain("power on")
		let(time.Hour)
		h := w.host()
		w.g.Expect(condition(h, "Stalled").Reason).To(Equal("MachineMayBeInUse"), h.Status.ErrorMessage)
		w.verifiedOnly("power on")
	})
}

// the new node is none of the restart.
func TestARestartIsNotMadeAgainByAnotherNode(t *testing.T) {
	for name, forbidden := range map[string]bool{"where power-off is forbidden": true, "where the machine is switched off for it": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var a asked
				w := neverOffWorld(t, &a)
				defer func() { w.stop() }()
				w.askedToRestart(&a, forbidden)
				w.annotate(names.Detached, `{"force":true}`)
				w.until("detached", 10*time.Minute, detached)
				a.since()
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
				w.enrolledAgain("power on")
				w.until("adopted", 10*time.Minute, func(*metal3.BareMetalHost) bool {
					n, _ := w.sim.Node("lab~host-1")
					return n.ProvisionState == "active" && w.sim.Edit(n.UUID, map[string]any{"last_error": "somebody else's", "power_state": "power on"})
				})
				let(time.Hour)
				w.g.Expect(a.since()).To(BeEmpty())
				w.g.Expect(w.host().Annotations).NotTo(Or(HaveKey(names.Reboot), HaveKey(names.Rebooting)))
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
			})
		})
	}
}

// TestADeploymentThatABackupDoesNotKnowOfFails: what it was of stays on the node, so that the next one is made of what is asked for then.
func TestADeploymentThatABackupDoesNotKnowOfFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		free := w.backup(metal3.StateAvailable)
		let(time.Minute)
		w.edit(askFor("http://images.test/first.img"))
		w.until("deploying", 10*time.Minute, func(*metal3.BareMetalHost) bool {
			n, _ := w.sim.Node("lab~host-1")
			return n.ProvisionState == "wait call-back"
		})
		w.halt()
		w.putBack(free)
		w.sim.Edit("lab~host-1", map[string]any{"provision_state": "deploy failed", "target_provision_state": "active", "last_error": "The deployment state can't be resumed by conductor."})
		w.start(policy.Settings{})
		let(time.Hour)
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
		var asked []any
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/states/provision") {
				n, _ := w.sim.Node("lab~host-1")
				info, _ := n.Fields["instance_info"].(map[string]any)
				asked = append(asked, n.ProvisionState, info["image_source"])
			}
			return nil
		})
		w.edit(askFor("http://images.test/another.img"))
		w.untilState(metal3.StateProvisioned, time.Hour)
		w.g.Expect(asked).To(Equal([]any{"deploy failed", "http://images.test/first.img", "available", "http://images.test/another.img"}), "torn down, then deployed")
	})
}
