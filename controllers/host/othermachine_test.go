package host

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// elsewhere is the address of another machine than the world's first host has; it may be another name of the same one.
const elsewhere = "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1"

// letsGo reports a request to remove a node.
func letsGo(r *http.Request) bool {
	return r.Method == http.MethodDelete && !strings.HasSuffix(r.URL.Path, "/maintenance")
}

// TestAHostThatIsMadeAnewWithAnotherAddressIsNoNewOne: its status is lost, and its BMC is named otherwise than when something was
// installed, as by a name in the place of an IP address. The node of before is the last that tells of it.
func TestAHostThatIsMadeAnewWithAnotherAddressIsNoNewOne(t *testing.T) {
	for name, state := range map[string]policy.State{"without a status": policy.StateNone, "registering": metal3.StateRegistering} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				let(time.Minute)
				first := w.host().Status.Provisioning.ID
				w.madeAnew(nil)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = elsewhere })
				if state != policy.StateNone { // the program had begun, and knew of no node yet
					h := w.host()
					h.Status.Provisioning.State, h.Status.OperationalStatus = state, metal3.OperationalStatusOK
					w.g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
				}
				w.sim.ResetCounts()
				stored := ""
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					if letsGo(r) {
						stored = w.host().Status.Provisioning.ID
					}
					return nil
				})
				w.start(policy.Settings{})
				w.until("of another node", 10*time.Minute, func(*metal3.BareMetalHost) bool {
					n, there := w.sim.Node("lab~host-1")
					return there && n.UUID != first
				})
				w.g.Expect(stored).To(Equal(first), "a program that ends now would take the host for a new one")
				w.enrolledAgain("power on")
				let(time.Hour)
				w.leftAlone("power on")
				w.g.Expect(w.events.said()).To(ContainSubstring("NodeReplaced: spec.bmc.address names another machine"))
				w.annotate(names.Inspect, "") // nothing is needed of it
				w.untilState(metal3.StateProvisioned, time.Hour)
			})
		})
	}
}

// TestAMachineThatMayBeInUseIsSoOfAHostThatIsMadeAnew with another address of its BMC, and so without the node that tells of it.
func TestAMachineThatMayBeInUseIsSoOfAHostThatIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := restoredWithoutNode(t, func(*metal3.BareMetalHost) {})
		defer func() { w.stop() }()
		let(time.Hour)
		w.foundOn()
		first := w.host().Status.Provisioning.ID
		w.madeAnew(nil)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = elsewhere })
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		w.until("of another node", 10*time.Minute, func(*metal3.BareMetalHost) bool {
			n, there := w.sim.Node("lab~host-1")
			return there && n.UUID != first
		})
		w.enrolledAgain("power on")
		let(time.Hour)
		w.leftAlone("power on")
	})
}

// TestANodeWithAnotherBMCIsNotAHostsByItsMACAddress: it is somebody else's, or the address is wrong. It is not removed.
func TestANodeWithAnotherBMCIsNotAHostsByItsMACAddress(t *testing.T) {
	for name, c := range map[string]struct {
		node   string
		ours   bool
		bmc    string
		system string
	}{
		"without a name":                        {bmc: "https://192.0.2.1", system: "/redfish/v1/Systems/1"},
		"with the host's short name":            {node: "host-1", bmc: "https://bmc.test", system: "/redfish/v1/Systems/2"},
		"of the host's machine, in other words": {node: "host-1", ours: true, bmc: "BMC.test:443/", system: "/redfish/v1/Systems/1/"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const theirs = "0d6f2f4e-4d1c-4c5e-9a3e-6a9e1f0c7b52"
				w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Paused: ""} })
				defer func() { w.stop() }()
				w.g.Expect(w.sim.Put(simulator.Seed{Fields: map[string]any{
					"uuid": theirs, "name": c.node, "driver": "redfish", "provision_state": "active", "power_state": "power on",
					"driver_info": map[string]any{"redfish_address": c.bmc, "redfish_system_id": c.system},
				}, Ports: map[string]bool{ownMAC: true}})).To(Succeed())
				w.unpause()
				let(time.Hour)
				n, there := w.sim.Node(theirs)
				w.g.Expect(there).To(BeTrue(), "the node of somebody else was removed")
				w.g.Expect(n.ProvisionState).To(Equal("active"))
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero())
				if c.ours {
					w.g.Expect(w.host().Status.Provisioning.ID).To(Equal(theirs))
					return
				}
				w.g.Expect(n.Name).To(Equal(c.node))
				w.g.Expect(condition(w.host(), "Stalled")).To(And(HaveField("Reason", "NodeOfAnotherHost"), HaveField("Message", ContainSubstring("another BMC"))))
			})
		})
	}
}

// TestAnAddressThatIsChangedBackWhileTheNodeCannotGo: nothing was done, and nothing is left of it.
func TestAnAddressThatIsChangedBackWhileTheNodeCannotGo(t *testing.T) {
	for name, fault := range map[string]func(*http.Request) *simulator.Fault{"locked": locked, "refused": refuseToDelete} {
		t.Run(name, func(t *testing.T) {
			eachAtRest(t, func(t *testing.T, w *world) {
				was := w.host()
				w.sim.Intercept(fault)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = elsewhere })
				let(10 * time.Minute)
				h := w.host()
				said := h.Status.ErrorMessage + condition(h, metal3.ProgressingCondition).Message
				w.g.Expect(said).To(Or(ContainSubstring("Node has volume targets."), ContainSubstring("locked by host conductor-2")))
				w.g.Expect(w.sim.Counts()["DELETE /v1/nodes/{node}"]).To(BeNumerically("<", 250), "tried as often as a lock allows")
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = was.Spec.BMC.Address })
				let(time.Minute)
				w.sim.Intercept(nil)
				let(time.Hour)
				h = w.host()
				n, there := w.sim.Node("lab~host-1")
				w.g.Expect(there).To(BeTrue())
				w.g.Expect(n.UUID).To(Equal(was.Status.Provisioning.ID))
				w.g.Expect(n.Maintenance).To(BeFalse())
				w.g.Expect(h.Status.ErrorMessage).To(BeEmpty())
				w.g.Expect(h.Status.Provisioning.State).To(Equal(was.Status.Provisioning.State))
				w.g.Expect(h.Status.PoweredOn).To(Equal(was.Status.PoweredOn))
				w.g.Expect(w.sim.Total("PUT /v1/nodes/{node}/states/")).To(BeZero())
				w.g.Expect(w.events.list()).NotTo(ContainElement("NodeReplaced"))
			})
		})
	}
}

// TestTwoHostsWhoseAddressesWereSwapped, by a backup or without the admission policies: each says that the other one's node is in
// its way, nothing is done to either machine, and they go on once one of the two is detached.
func TestTwoHostsWhoseAddressesWereSwapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		first, a := w.host(), w.key
		b := w.another("host-2", otherMAC)
		w.key = b
		w.edit(wantInstall)
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		let(time.Minute)
		second := w.host()
		w.halt()
		w.sim.ResetCounts()
		swap := map[client.ObjectKey]string{a: second.Spec.BMC.Address, b: first.Spec.BMC.Address}
		for w.key = range swap {
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = swap[w.key] })
		}
		w.start(policy.Settings{})
		let(time.Hour)
		for w.key = range swap {
			w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("NodeOfAnotherHost"), w.host().Status.ErrorMessage)
		}
		w.g.Expect(w.sim.Total("PUT /v1/nodes/{node}/states/")).To(BeZero())
		w.key = a
		w.annotate(names.Detached, "")
		w.until("detached", time.Hour, detached)
		on := func(name, former string) { // its machine runs
			n, is := w.sim.Node(name)
			for begin := time.Now(); !is || n.UUID == former; n, is = w.sim.Node(name) {
				w.g.Expect(time.Since(begin)).To(BeNumerically("<", 24*time.Hour))
				let(time.Second / 10)
			}
			w.g.Expect(n.ProvisionState).To(BeElementOf("enroll", "verifying"), "what its power is, is not known yet")
			w.g.Expect(w.sim.Edit(n.UUID, map[string]any{"power_state": "power on"})).To(BeTrue())
		}
		w.key = b
		on("lab~host-2", second.Status.Provisioning.ID)
		w.until("of the first machine", 24*time.Hour, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.ID != second.Status.Provisioning.ID && h.Status.ErrorMessage == ""
		})
		w.key = a
		w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
		on("lab~host-1", first.Status.Provisioning.ID)
		w.until("attached", 24*time.Hour, func(h *metal3.BareMetalHost) bool { return !detached(h) && h.Status.ErrorMessage == "" })
		let(time.Hour)
		for w.key = range swap {
			n, _ := w.sim.Node("lab~" + w.key.Name)
			w.g.Expect(n.ProvisionState).To(Equal("active"))
			w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
			info, _ := n.Fields["driver_info"].(map[string]any)
			w.g.Expect(swap[w.key]).To(HaveSuffix(info["redfish_system_id"].(string)))
		}
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(4), "each is verified and adopted")
	})
}

// TestAHostThatIsRegisteringAndGetsAnotherMachine says why it is not inspected: the BMC of the first one answered already.
func TestAHostThatIsRegisteringAndGetsAnotherMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.HardwareProfile = "no such" })
		defer func() { w.stop() }()
		w.until("verified", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorMessage != "" })
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateRegistering))
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.HardwareProfile, h.Spec.BMC.Address = "", elsewhere })
		let(time.Hour)
		h := w.host()
		t.Logf("%s %s %q", h.Status.Provisioning.State, condition(h, "Stalled").Reason, h.Status.ErrorMessage)
		w.saysLeftAlone()
	})
}

// TestAFreeHostThatGetsAnotherMachineWhileItIsDetached: that it was on, and free, is of the former machine. What runs on the other
// one is not replaced by what is asked for later, also if the program ended before it had told that the host is detached.
func TestAFreeHostThatGetsAnotherMachineWhileItIsDetached(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		ends    bool
	}{
		"another one": {address: elsewhere},
		"another one, and the program ends as the node goes": {address: elsewhere, ends: true},
		"the same one": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, nil)
				defer func() { w.stop() }()
				w.untilAtRest()
				w.g.Expect(w.host().Status.PoweredOn).To(BeTrue())
				if c.ends {
					w.sim.Intercept(func(r *http.Request) *simulator.Fault {
						if letsGo(r) {
							w.g.Expect(policy.RecordedMachine(&w.host().Status)).NotTo(BeEmpty(), "a program that ends now would not know it")
						}
						return nil
					})
				}
				w.annotate(names.Detached, "")
				w.until("detached", time.Minute, detached)
				if c.address != "" {
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = c.address })
				}
				let(time.Minute)
				w.sim.ResetCounts()
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
				w.enrolledAgain("power on")
				let(time.Minute)
				w.edit(wantInstall)
				let(time.Hour)
				w.g.Expect(policy.RecordedMachine(&w.host().Status)).To(Equal(nodespec.MachineText(w.host())))
				if c.address == "" {
					w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
					return
				}
				w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"))
				w.leftAlone("power on")
			})
		})
	}
}

// TestAFreeHostThatGetsAnotherMachineOnceItIsAttached, and before it has a node again, as while its Secret is not there: the node of
// before is gone, and the one to come is to know that the machine is another one. Whoever detached it without telling which machine
// it had, as an earlier version does, has left that unknown.
func TestAFreeHostThatGetsAnotherMachineOnceItIsAttached(t *testing.T) {
	for name, c := range map[string]struct{ unknown, restarts bool }{
		"before it has a node":                               {},
		"before it has a node, and the program ends between": {restarts: true},
		"as an earlier version has detached it":              {unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, nil)
				defer func() { w.stop() }()
				w.untilAtRest()
				w.annotate(names.Detached, "")
				w.until("detached", time.Minute, detached)
				let(time.Minute)
				w.sim.ResetCounts()
				if c.unknown {
					h := w.host()
					meta.RemoveStatusCondition(&h.Status.Conditions, "MachineRecorded")
					w.g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = elsewhere; delete(h.Annotations, names.Detached) })
				} else {
					w.edit(func(h *metal3.BareMetalHost) {
						h.Spec.BMC.CredentialsName = "none yet"
						delete(h.Annotations, names.Detached)
					})
					w.until("attached", time.Minute, func(h *metal3.BareMetalHost) bool { return condition(h, "Stalled").Reason == "BMCCredentialError" })
					if c.restarts {
						w.halt()
						w.start(policy.Settings{})
					}
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address, h.Spec.BMC.CredentialsName = elsewhere, "bmc" })
				}
				w.enrolledAgain("power on")
				let(time.Minute)
				w.edit(wantInstall)
				let(time.Hour)
				w.g.Expect(policy.RecordedMachine(&w.host().Status)).To(Equal(nodespec.MachineText(w.host())))
				w.leftAlone("power on")
			})
		})
	}
}

// TestAFreeHostThatGetsAnotherMachineWhileItHasNoNode: Ironic has lost its database, and the address changes before the next node
// is there. That the former machine was on, and free, says nothing of the other one.
func TestAFreeHostThatGetsAnotherMachineWhileItHasNoNode(t *testing.T) {
	for name, c := range map[string]struct{ known, restarts bool }{
		"the controller knows that the node is gone": {known: true},
		"both at once":              {},
		"both, and it is restarted": {restarts: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, nil)
				defer func() { w.stop() }()
				w.untilAtRest()
				w.g.Expect(w.host().Status.PoweredOn).To(BeTrue())
				w.halt()
				w.sim.Wipe()
				if c.known {
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "none yet" })
					w.start(policy.Settings{})
					w.until("without its Secret", time.Minute, func(h *metal3.BareMetalHost) bool { return condition(h, "Stalled").Reason == "BMCCredentialError" })
					w.halt()
				}
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address, h.Spec.BMC.CredentialsName = elsewhere, "bmc" })
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				w.enrolledAgain("power on")
				if c.restarts {
					w.halt()
					w.start(policy.Settings{})
				}
				let(time.Minute)
				w.edit(wantInstall)
				let(time.Hour)
				w.leftAlone("power on")
				w.g.Expect(policy.RecordedMachine(&w.host().Status)).To(Equal(nodespec.MachineText(w.host())))
			})
		})
	}
}
