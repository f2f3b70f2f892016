package host

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// resting are the states in which a host rests, and how one gets there.
var resting = map[string]struct {
	want func(*metal3.BareMetalHost)
	rest policy.State
}{
	"available":              {nil, metal3.StateAvailable},
	"provisioned":            {wantInstall, metal3.StateProvisioned},
	"externally provisioned": {func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true }, metal3.StateExternallyProvisioned},
}

// eachAtRest makes a host that rests, and runs what is to be seen of it.
func eachAtRest(t *testing.T, run func(t *testing.T, w *world)) {
	t.Helper()
	for name, c := range resting {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, c.want)
				defer w.stop()
				w.untilState(c.rest, time.Minute)
				let(time.Minute)
				w.sim.ResetCounts()
				run(t, w)
			})
		})
	}
}

// driverInfo is what the host's node knows of its BMC.
func (w *world) driverInfo() map[string]any {
	n, _ := w.sim.Node(nodespec.NodeName(w.host()))
	info, _ := n.Fields["driver_info"].(map[string]any)
	return info
}

// rotate changes the password in the BMC's Secret.
func (w *world) rotate(password string) (version string) {
	w.t.Helper()
	secret := &corev1.Secret{}
	w.g.Expect(w.kube.Get(w.t.Context(), types.NamespacedName{Namespace: lab.Namespace, Name: "bmc"}, secret)).To(Succeed())
	secret.Data["password"] = []byte(password)
	w.g.Expect(w.kube.Update(w.t.Context(), secret)).To(Succeed())
	return secret.ResourceVersion
}

// touched are the requests that change more of a node than its fields.
func (w *world) touched() map[string]int {
	made := w.sim.Counts()
	maps.DeleteFunc(made, func(call string, _ int) bool {
		return strings.HasPrefix(call, "GET ") || strings.HasPrefix(call, "PATCH ")
	})
	return made
}

// TestNewPasswordOfABMCThatRefuses changes the password of a BMC behind Ironic's back,
// and in the Secret only when Ironic has lost the machine: the node is told, and goes
// on when Ironic has found out. That it is in maintenance until then is Ironic's affair.
func TestNewPasswordOfABMCThatRefuses(t *testing.T) {
	eachAtRest(t, func(t *testing.T, w *world) {
		g := NewWithT(t)
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		w.sim.LoseBMC(n.Name, "HTTP 401 Unauthorized")
		w.until("without power", time.Minute, func(h *metal3.BareMetalHost) bool {
			return condition(h, metal3.ManageableCondition).Reason == metal3.PowerFailureReason
		})
		version := w.rotate("rotated")
		w.until("told", 10*time.Second, func(*metal3.BareMetalHost) bool { return w.driverInfo()["redfish_password"] == "rotated" })
		let(time.Hour)
		h := w.host()
		g.Expect(condition(h, metal3.ManageableCondition).Reason).To(Equal(metal3.PowerFailureReason))
		g.Expect(h.Status.TriedCredentials.Version).To(Equal(version))
		g.Expect(h.Status.GoodCredentials.Version).NotTo(Equal(version), "nothing has proven it yet")
		g.Expect(w.sim.Counts()["PATCH /v1/nodes/{node}"]).To(Equal(1))

		w.sim.FindBMC(n.Name, n.PowerState)
		w.until("manageable", time.Minute, func(h *metal3.BareMetalHost) bool {
			return condition(h, metal3.ManageableCondition).Reason == metal3.ManageableReason
		})
		g.Expect(w.host().Status.GoodCredentials.Version).To(Equal(version))
		g.Expect(w.host().Status.ErrorType).To(BeEmpty())
		g.Expect(w.touched()).To(BeEmpty())
	})
}

// TestNewPasswordInMaintenance has somebody at work on the machine: the node is told of
// the new password, and stays in maintenance.
func TestNewPasswordInMaintenance(t *testing.T) {
	eachAtRest(t, func(t *testing.T, w *world) {
		g := NewWithT(t)
		w.sim.Edit(nodespec.NodeName(w.host()), map[string]any{"maintenance": true, "maintenance_reason": "new fan"})
		w.until("in maintenance", time.Minute, func(h *metal3.BareMetalHost) bool {
			c := condition(h, metal3.ManageableCondition)
			return c.Reason == "Maintenance" && strings.Contains(c.Message, "new fan")
		})
		w.rotate("rotated")
		w.until("told", 10*time.Second, func(*metal3.BareMetalHost) bool { return w.driverInfo()["redfish_password"] == "rotated" })
		let(24 * time.Hour)
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		g.Expect(n.Maintenance).To(BeTrue())
		g.Expect(w.touched()).To(BeEmpty())
	})
}

// TestNewBMCSettingsAtRest changes how a BMC is reached while nothing else is to be
// done: the node has it at once, by one request.
func TestNewBMCSettingsAtRest(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*metal3.BMCDetails)
		key    string
		value  any
	}{
		"certificate": {func(b *metal3.BMCDetails) { b.DisableCertificateVerification = true }, "redfish_verify_ca", false},
		"spelling":    {func(b *metal3.BMCDetails) { b.Address = "redfish-virtualmedia://BMC.test:443/redfish/v1/Systems/1" }, "redfish_address", "https://BMC.test:443"},
	} {
		t.Run(name, func(t *testing.T) {
			eachAtRest(t, func(t *testing.T, w *world) {
				g := NewWithT(t)
				w.edit(func(h *metal3.BareMetalHost) { c.change(&h.Spec.BMC) })
				w.until("told", 10*time.Second, func(*metal3.BareMetalHost) bool { return w.driverInfo()[c.key] == c.value })
				let(time.Hour)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Description = "rack 7" })
				let(time.Hour)
				g.Expect(w.sim.Counts()["PATCH /v1/nodes/{node}"]).To(Equal(1))
				g.Expect(w.touched()).To(BeEmpty())
				g.Expect(w.driverInfo()).To(HaveKeyWithValue("redfish_password", "hunter2hunter2"))
			})
		})
	}
}

// TestAHostOfAnotherMachineGetsAnotherNode changes which machine a host at rest is of. The node that it has is never told of
// that one's BMC, since it keeps the power state of the former: Ironic could switch a machine off by that. It goes, and the
// host gets another one. Neither machine is touched.
func TestAHostOfAnotherMachineGetsAnotherNode(t *testing.T) {
	for name, c := range map[string]struct{ address, key, value string }{
		"system":     {"redfish-virtualmedia://bmc.test/redfish/v1/Systems/2", "redfish_system_id", "/redfish/v1/Systems/2"},
		"port":       {"redfish-virtualmedia://bmc.test:8443/redfish/v1/Systems/1", "redfish_address", "https://bmc.test:8443"},
		"other kind": {"ipmi://192.0.2.7", "ipmi_address", "192.0.2.7"},
	} {
		for by, known := range map[string]func(w *world, node string){
			"by what is kept on it": func(*world, string) {},
			"as others enrol it": func(w *world, node string) { // by its driver_info alone
				w.g.Expect(w.sim.Edit(node, map[string]any{"extra": map[string]any{}})).To(BeTrue())
				let(time.Minute)
			},
		} {
			t.Run(name+" "+by, func(t *testing.T) {
				eachAtRest(t, func(t *testing.T, w *world) {
					first, state := w.host().Status.Provisioning.ID, w.host().Status.Provisioning.State
					known(w, first)
					w.sim.ResetCounts()
					told := 0
					w.sim.Intercept(func(r *http.Request) *simulator.Fault {
						if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, first) {
							told++
						}
						return nil
					})
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = c.address })
					w.until("of another node", time.Minute, func(*metal3.BareMetalHost) bool {
						n, there := w.sim.Node("lab~host-1")
						return there && n.UUID != first
					})
					w.enrolledAgain("power on")
					let(time.Hour)
					w.g.Expect(w.driverInfo()).To(HaveKeyWithValue(c.key, c.value))
					w.g.Expect(told).To(BeZero(), "the node of the former machine was told of another one")
					w.g.Expect(w.sim.Nodes()).To(HaveLen(1))
					w.g.Expect(w.host().Status.Provisioning.State).To(Equal(state))
					w.g.Expect(w.host().Status.ErrorMessage).To(BeEmpty())
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeNumerically("<=", 2), "verified, and adopted")
				})
			})
		}
	}
}

// TestAHostOfAnotherMachineThatIsDeleted: what its node holds is of a machine that is not the host's, and is left there.
func TestAHostOfAnotherMachineThatIsDeleted(t *testing.T) {
	eachAtRest(t, func(t *testing.T, w *world) {
		w.halt()
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.BMC.Address = "redfish-virtualmedia://bmc.test/redfish/v1/Systems/2"
		})
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		w.until("gone", time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
		w.g.Expect(w.sim.Nodes()).To(BeEmpty())
		w.g.Expect(w.sim.Total("PUT /v1/nodes/{node}/states/")).To(BeZero())
		w.g.Expect(strings.Join(w.events.list(), "\n")).To(ContainSubstring("NodeOfAnotherMachine"))
	})
}

// TestANodeKnowsOfALaterSpecThanABackupHas: Ironic's database is of now, and the API server's of before the certificate was
// no longer verified. That the status and the spec agree on what Ironic was told is of then.
func TestANodeKnowsOfALaterSpecThanABackupHas(t *testing.T) {
	for name, other := range map[string]bool{"the same": false, "of another flag": true} {
		t.Run(name, func(t *testing.T) {
			eachAtRest(t, func(t *testing.T, w *world) {
				n, _ := w.sim.Node("lab~host-1")
				extra, _ := n.Fields["extra"].(map[string]any)
				info, present := w.driverInfo(), extra["ironflow_told"]
				w.g.Expect(present).NotTo(BeEmpty())
				extra["ironflow_told"] = "something else"
				if other {
					info["redfish_verify_ca"] = false
				}
				w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{"extra": extra, "driver_info": info})).To(BeTrue())
				w.stop()
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				let(time.Hour)
				n, _ = w.sim.Node("lab~host-1")
				w.g.Expect(n.Fields["driver_info"]).NotTo(HaveKey("redfish_verify_ca"))
				w.g.Expect(n.Fields["extra"]).To(HaveKeyWithValue("ironflow_told", present))
				w.g.Expect(w.sim.Counts()["PATCH /v1/nodes/{node}"]).To(Equal(1))
				w.g.Expect(w.touched()).To(BeEmpty())
			})
		})
	}
}

// TestAFreeMachineIsNotOnAsTheFormerOneWas: that a free machine is on says that nobody uses it, if it is that one. Of another
// one it is left alone when a system is asked for, also if the program ends right after the node was removed.
func TestAFreeMachineIsNotOnAsTheFormerOneWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilState(metal3.StateAvailable, time.Minute)
		w.until("on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		let(time.Minute)
		w.sim.ResetCounts()
		known := false
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodDelete {
				known = nodespec.InDoubt(&w.host().Status)
			}
			return nil
		})
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.BMC.Address = "redfish-virtualmedia://bmc.test/redfish/v1/Systems/2"
		})
		w.until("without its node", time.Minute, func(*metal3.BareMetalHost) bool { return known })
		w.enrolledAgain("power on")
		let(time.Minute)
		w.edit(wantInstall)
		let(time.Hour)
		w.leftAlone("power on")
	})
}

// TestAMachineIsNotWorkedOnAsTheFormerOneWas: that a host was seen at work is said of the machine that it had then.
func TestAMachineIsNotWorkedOnAsTheFormerOneWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilState(metal3.StateInspecting, time.Minute)
		let(time.Second)
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.BMC.Address = "redfish-virtualmedia://bmc.test/redfish/v1/Systems/2"
		})
		first, asked := w.host().Status.Provisioning.ID, 0
		const requests = "PUT /v1/nodes/{node}/states/provision"
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodDelete {
				asked = w.sim.Counts()[requests]
			}
			return nil
		})
		w.until("of another node", time.Hour, func(*metal3.BareMetalHost) bool {
			n, there := w.sim.Node("lab~host-1")
			return there && n.UUID != first
		})
		w.enrolledAgain("power on")
		let(time.Hour)
		w.saysLeftAlone()
		w.g.Expect(w.sim.Counts()[requests]).To(Equal(asked+1), "its BMC is verified")
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
	})
}

// TestAHostKeepsItsNodeWhereTheOtherMachineHasOne: somebody else's node is found before anything is given up.
func TestAHostKeepsItsNodeWhereTheOtherMachineHasOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		const theirs = "0d6f2f4e-4d1c-4c5e-9a3e-6a9e1f0c7b52"
		first := w.host().Status.Provisioning.ID
		w.g.Expect(w.sim.Put(simulator.Seed{Fields: map[string]any{
			"uuid": theirs, "name": "theirs", "driver": "redfish", "provision_state": "manageable",
			"extra": map[string]any{"ironflow_machine": nodespec.MachineText(&metal3.BareMetalHost{
				Spec: metal3.BareMetalHostSpec{BMC: metal3.BMCDetails{Address: "redfish://bmc.test/redfish/v1/Systems/2"}},
			})},
		}})).To(Succeed())
		let(time.Minute)
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.BMC.Address = "redfish-virtualmedia://bmc.test/redfish/v1/Systems/2"
		})
		let(time.Hour)
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("NodeOfAnotherHost"))
		n, there := w.sim.Node(first)
		w.g.Expect(there).To(BeTrue())
		w.g.Expect(n.ProvisionState).To(Equal("active"))
		w.sim.Remove(theirs)
		w.until("of another node", 24*time.Hour, func(*metal3.BareMetalHost) bool { _, there := w.sim.Node(first); return !there })
	})
}

// locked has Ironic turn away what changes a node's fields, or removes it.
func locked(r *http.Request) *simulator.Fault {
	if r.Method == http.MethodPatch || r.Method == http.MethodDelete {
		return &simulator.Fault{Status: http.StatusConflict, Text: "Node is locked by host conductor-2, please retry after the current operation is completed."}
	}
	return nil
}

// TestNewBMCSettingsAreNotForgotten changes them while somebody holds the node, and
// ends the program before that is over.
func TestNewBMCSettingsAreNotForgotten(t *testing.T) {
	eachAtRest(t, func(_ *testing.T, w *world) {
		w.sim.Intercept(locked)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.DisableCertificateVerification = true })
		let(time.Minute)
		w.stop()
		let(time.Second)
		w.sim.Intercept(nil)
		w.start(policy.Settings{})
		w.until("told", time.Minute, func(*metal3.BareMetalHost) bool { return w.driverInfo()["redfish_verify_ca"] == false })
	})
}

// TestANodeIsToldOfTheBMCThatABackupNames: the host was given another BMC, and by that another node, which is locked when the
// backup is put back. That the spec is of the generation which Ironic was told of says nothing of this node.
func TestANodeIsToldOfTheBMCThatABackupNames(t *testing.T) {
	const before, since = "/redfish/v1/Systems/1", "/redfish/v1/Systems/2"
	eachAtRest(t, func(t *testing.T, w *world) {
		system := func() any { return w.driverInfo()["redfish_system_id"] }
		backup := w.host()
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, detached)
		w.edit(func(h *metal3.BareMetalHost) {
			delete(h.Annotations, names.Detached)
			h.Spec.BMC.Address = strings.Replace(h.Spec.BMC.Address, before, since, 1)
		})
		w.until("attached", time.Minute, func(*metal3.BareMetalHost) bool { return system() == since })
		let(time.Minute)
		w.halt()
		w.edit(func(h *metal3.BareMetalHost) { h.Spec = backup.Spec })
		w.madeAnew(nil)
		w.putBack(backup)
		w.g.Expect(w.host().Generation).To(Equal(backup.Generation))
		w.sim.ResetCounts()
		w.sim.Intercept(locked)
		w.start(policy.Settings{})
		let(time.Minute)
		w.g.Expect(system()).To(Equal(since))
		w.sim.Intercept(nil)
		w.until("told", time.Minute, func(*metal3.BareMetalHost) bool { return system() == before })
		w.enrolledAgain("power on")
		let(time.Hour)
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
		w.g.Expect(condition(w.host(), metal3.ManageableCondition).ObservedGeneration).To(Equal(backup.Generation))
	})
}

// TestWhatWasToldInAnotherClusterIsToldAnew: a change was not told there, as of a host that was paused for the move, and the node is
// locked as the host arrives. A host that is made anew counts its generations anew.
func TestWhatWasToldInAnotherClusterIsToldAnew(t *testing.T) {
	eachAtRest(t, func(t *testing.T, w *world) {
		w.halt()
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.DisableCertificateVerification = true })
		raw, err := json.Marshal(w.host().Status)
		w.g.Expect(err).NotTo(HaveOccurred())
		w.madeAnew(map[string]string{names.Status: string(raw)})
		w.sim.Intercept(locked)
		w.start(policy.Settings{})
		let(time.Minute)
		w.sim.Intercept(nil)
		w.until("told", time.Minute, func(*metal3.BareMetalHost) bool { return w.driverInfo()["redfish_verify_ca"] == false })
		let(time.Hour)
		w.g.Expect(w.touched()).To(BeEmpty())
	})
}

// TestOtherKindOfBMC has the host's BMC speak another protocol. Ironic changes the
// driver of a node in use only in maintenance, which is over at once.
func TestOtherKindOfBMC(t *testing.T) {
	eachAtRest(t, func(t *testing.T, w *world) {
		g := NewWithT(t)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "ipmi://bmc.test" })
		w.until("told", 10*time.Second, func(*metal3.BareMetalHost) bool { return w.driverInfo()["ipmi_address"] == "bmc.test" })
		let(time.Minute)
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		g.Expect(n.Fields["driver"]).To(Equal("ipmi"))
		g.Expect(n.Maintenance).To(BeFalse())
		g.Expect(w.driverInfo()).To(And(HaveKeyWithValue("ipmi_password", "hunter2hunter2"), Not(HaveKey("redfish_address"))))
		g.Expect(condition(w.host(), metal3.ManageableCondition).Reason).To(Equal(metal3.ManageableReason))
	})
}

// TestDetachingThatWasCalledOff ends the wish to detach a host when its node is in
// maintenance for that already.
func TestDetachingThatWasCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		w.sim.Edit(nodespec.NodeName(w.host()), map[string]any{"maintenance": true, "maintenance_reason": "detached by Ironflow"})
		w.until("managed", time.Minute, func(*metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(w.host()))
			return !n.Maintenance
		})
	})
}

// TestWhatSomebodyHasSetForABMCStays: a way to log in, or a certificate, without which Ironic
// does not reach the BMC any more. Another wish of the host takes none of it away.
func TestWhatSomebodyHasSetForABMCStays(t *testing.T) {
	eachAtRest(t, func(t *testing.T, w *world) {
		set := map[string]any{"redfish_auth_type": "basic", "redfish_verify_ca": "/etc/ironic/bmc.pem", "redfish_root_prefix": "/redfish/v1/"}
		info := w.driverInfo()
		maps.Copy(info, set)
		w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{"driver_info": info})).To(BeTrue())
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.AutomatedCleaningMode = metal3.CleaningModeDisabled })
		let(10 * time.Minute)
		w.g.Expect(w.sim.Total("PATCH")).NotTo(BeZero(), "the node was told")
		for key, value := range set {
			w.g.Expect(w.driverInfo()).To(HaveKeyWithValue(key, value))
		}
	})
}
