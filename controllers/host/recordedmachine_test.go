package host

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestABackupOfBeforeAHostHadAnotherMachine: by its status the former machine is free and on, and its node is of the other one.
// Whatever was done to the former machine since, nobody knows of it.
func TestABackupOfBeforeAHostHadAnotherMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		backup := w.host()
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, detached)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = elsewhere; delete(h.Annotations, names.Detached) })
		let(10 * time.Minute)
		w.g.Expect(policy.RecordedMachine(&w.host().Status)).NotTo(Equal(policy.RecordedMachine(&backup.Status)))
		w.halt()
		w.putBack(backup)
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		w.until("of another node", time.Minute, func(*metal3.BareMetalHost) bool { return strings.Contains(w.events.said(), "NodeReplaced") })
		w.enrolledAgain("power on")
		let(time.Minute)
		w.edit(wantInstall)
		let(time.Hour)
		w.leftAlone("power on")
	})
}

// TestAHostWhoseNextNodeGetsAnotherMachine before its BMC has answered: Ironic has lost its database, and what the status says of
// the former machine is not said of the one that the node is given.
func TestAHostWhoseNextNodeGetsAnotherMachine(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateAvailable, metal3.StateInspecting} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var refuses atomic.Bool
				w := newWorld(t, assisted(failing(&refuses, "verify", "", "no answer")), policy.Settings{}, nil)
				defer func() { w.stop() }()
				if w.untilState(state, time.Minute); state == metal3.StateAvailable {
					w.untilAtRest()
				} else {
					let(2 * time.Second)
				}
				refuses.Store(true)
				w.sim.Wipe()
				w.until("not verified", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(state))
				refuses.Store(false)
				w.sim.ResetCounts()
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = elsewhere })
				w.enrolledAgain("power on")
				let(time.Minute)
				w.edit(wantInstall)
				let(time.Hour)
				w.saysLeftAlone()
				w.verifiedOnly("power on")
			})
		})
	}
}

// TestAHostThatAsksForAnotherImageAsItGetsAnotherMachine: the wish may be meant for the former machine, so that nothing is done to
// either, whether the host was detached or has its node. It counts once it is made of the machine that the host has.
func TestAHostThatAsksForAnotherImageAsItGetsAnotherMachine(t *testing.T) {
	const first, second = "http://images.test/first.img", "http://images.test/second.img"
	for name, ask := range map[string]func(*metal3.BareMetalHost){"another": askFor(second), "none": func(h *metal3.BareMetalHost) { h.Spec.Image = nil }} {
		for _, leaves := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, detached: %t", name, leaves), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, assisted(nil), policy.Settings{}, askFor(first))
					defer func() { w.stop() }()
					w.untilState(metal3.StateProvisioned, time.Minute)
					let(time.Minute)
					if leaves {
						w.annotate(names.Detached, "")
						w.until("detached", time.Minute, detached)
					}
					w.sim.ResetCounts()
					was := w.host().Spec.BMC.Address
					w.edit(func(h *metal3.BareMetalHost) {
						ask(h)
						h.Spec.BMC.Address = elsewhere
						delete(h.Annotations, names.Detached)
					})
					let(time.Hour)
					w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineChanged"), w.host().Status.ErrorMessage)
					w.g.Expect(w.sim.Total("PUT /v1/nodes/{node}/states/")).To(BeZero())
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = was })
					w.until("changed back", time.Minute, func(h *metal3.BareMetalHost) bool { return condition(h, "Stalled").Reason != "MachineChanged" })
				})
			})
		}
	}
}

// TestAnotherImageOnceAHostHasItsOtherMachine is what the machine gets that the host has by then.
func TestAnotherImageOnceAHostHasItsOtherMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const first, second = "http://images.test/first.img", "http://images.test/second.img"
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor(first))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { askFor(second)(h); h.Spec.BMC.Address = elsewhere })
		let(time.Minute)
		w.sim.ResetCounts()
		w.edit(askFor(first))
		w.until("adopted", time.Hour, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node("lab~host-1")
			return n.UUID == h.Status.Provisioning.ID && n.ProvisionState == "active" && h.Status.ErrorMessage == "" &&
				policy.RecordedMachine(&h.Status) == nodespec.MachineText(h)
		})
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
		w.edit(askFor(second))
		w.until("installed", time.Hour, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.Provisioning.Image.URL == second
		})
	})
}

// TestAHostThatIsDeletedAsItGetsAnotherMachine and has no node: neither machine is touched, as with one.
func TestAHostThatIsDeletedAsItGetsAnotherMachine(t *testing.T) {
	for name, want := range map[string]func(*metal3.BareMetalHost){"available": nil, "provisioned": wantInstall} {
		for _, how := range []string{"lost", "detached"} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, assisted(nil), policy.Settings{}, want)
					defer func() { w.stop() }()
					if w.untilState(metal3.ProvisioningState(name), time.Minute); want == nil {
						w.untilAtRest()
					}
					let(time.Minute)
					if how == "detached" {
						w.annotate(names.Detached, "")
						w.until("detached", time.Minute, detached)
					}
					w.halt()
					w.sim.Wipe()
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = elsewhere; delete(h.Annotations, names.Detached) })
					w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
					w.sim.ResetCounts()
					w.start(policy.Settings{})
					begin := time.Now()
					for w.host() != nil && time.Since(begin) < time.Hour {
						if n, is := w.sim.Node("lab~host-1"); is && (n.ProvisionState == "enroll" || n.ProvisionState == "verifying") {
							w.sim.Edit(n.UUID, map[string]any{"power_state": "power on"})
						}
						let(time.Second / 10)
					}
					w.g.Expect(w.host()).To(BeNil())
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero())
					w.g.Expect(w.events.list()).To(ContainElement("NodeOfAnotherMachine"))
				})
			})
		}
	}
}

// TestAHostIsWokenWhenItIsKnownThatAnotherOneWasMovedToItsMachine: the other one was given its address with an earlier version, which
// recorded no machine, and was on hold since. Once it is not, it has no claim any more, and the one that is there goes on.
func TestAHostIsWokenWhenItIsKnownThatAnotherOneWasMovedToItsMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		moved := w.key
		w.key = w.another("host-2", otherMAC)
		w.untilAtRest()
		there, h := w.key, w.host()
		w.halt()
		w.sim.ResetCounts()
		w.key = moved
		w.edit(func(m *metal3.BareMetalHost) {
			m.Spec.BMC.Address = h.Spec.BMC.Address
			metav1.SetMetaDataAnnotation(&m.ObjectMeta, names.Hold, "")
		})
		m := w.host()
		meta.RemoveStatusCondition(&m.Status.Conditions, "MachineRecorded")
		w.g.Expect(w.kube.Status().Update(t.Context(), m)).To(Succeed())
		w.start(policy.Settings{})
		w.key = there
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return condition(h, "Stalled").Reason == "MachineOfAnotherHost" })
		let(time.Hour)
		w.key = moved
		w.edit(func(m *metal3.BareMetalHost) { delete(m.Annotations, names.Hold) })
		let(time.Hour)
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineOfAnotherHost"), w.host().Status.ErrorMessage)
		w.key = there
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("NotFailing"), w.host().Status.ErrorMessage)
		w.g.Expect(w.sim.Total("PUT /v1/nodes/{node}/states/")).To(BeZero())
	})
}

// TestAMachineThatMayBeInUseIsSoWithoutItsNodeThoughItIsSeenOn: it was switched off, which called it free, and has come on by itself
// when its node could not be read. That node goes, which recorded that something may be on it.
func TestAMachineThatMayBeInUseIsSoWithoutItsNodeThoughItIsSeenOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := restoredWithoutNode(t, func(*metal3.BareMetalHost) {})
		defer func() { w.stop() }()
		let(time.Hour)
		w.foundOn()
		w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{"power_state": "power off"})).To(BeTrue())
		w.until("free", time.Hour, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorMessage == "" })
		let(time.Hour)
		node := w.host().Status.Provisioning.ID
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/nodes/"+node) {
				return nil
			}
			return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "not now"}
		})
		w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{"power_state": "power on"})).To(BeTrue())
		w.until("seen on", time.Hour, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		w.halt()
		w.sim.Wipe()
		w.sim.Intercept(nil)
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		w.enrolledAgain("power on")
		let(time.Hour)
		w.leftAlone("power on")
	})
}

// TestAMachineIsFreeOnceItsNodeSaysSo: somebody has it inspected, so that nothing on it is needed.
func TestAMachineIsFreeOnceItsNodeSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := restoredWithoutNode(t, func(*metal3.BareMetalHost) {})
		defer func() { w.stop() }()
		let(time.Hour)
		w.foundOn()
		w.g.Expect(condition(w.host(), "MachineRecorded").Reason).To(Equal("MayBeInUse"))
		w.annotate(names.Inspect, "")
		w.until("inspected", time.Hour, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.ErrorMessage == ""
		})
		let(time.Minute)
		w.g.Expect(condition(w.host(), "MachineRecorded").Reason).To(Equal("OfItsNode"))
	})
}
