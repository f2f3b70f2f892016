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
	const secure = "redfish-virtualmedia://bmc.test"
	for name, c := range map[string]struct {
		change func(*metal3.BMCDetails)
		key    string
		value  any
	}{
		"certificate": {func(b *metal3.BMCDetails) { b.DisableCertificateVerification = true }, "redfish_verify_ca", false},
		"system":      {func(b *metal3.BMCDetails) { b.Address = secure + "/redfish/v1/Systems/2" }, "redfish_system_id", "/redfish/v1/Systems/2"},
		"port":        {func(b *metal3.BMCDetails) { b.Address = secure + ":8443/redfish/v1/Systems/1" }, "redfish_address", "https://bmc.test:8443"},
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

// locked has Ironic turn away what changes a node's fields.
func locked(r *http.Request) *simulator.Fault {
	if r.Method == http.MethodPatch {
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
		let(time.Hour)
		w.g.Expect(w.touched()).To(BeEmpty())
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

// TestOtherKindOfBMC gives the host's machine a BMC of another kind. Ironic changes the
// driver of a node in use only in maintenance, which is over at once.
func TestOtherKindOfBMC(t *testing.T) {
	eachAtRest(t, func(t *testing.T, w *world) {
		g := NewWithT(t)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "ipmi://192.0.2.7" })
		w.until("told", 10*time.Second, func(*metal3.BareMetalHost) bool { return w.driverInfo()["ipmi_address"] == "192.0.2.7" })
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
