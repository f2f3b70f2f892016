package host

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// adoptedSince is a world whose host was put back as a backup has it, which change edits: what was deployed then was given back since,
// somebody else has installed the machine, and the host has adopted that.
func adoptedSince(t *testing.T, state metal3.ProvisioningState, change func(*metal3.BareMetalHost)) *world {
	t.Helper()
	w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
	backup := w.backup(state)
	w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
	w.untilState(metal3.StateAvailable, 10*time.Minute)
	let(time.Minute)
	keepWhatIsThere(w)
	w.untilState(metal3.StateExternallyProvisioned, 10*time.Minute)
	let(time.Minute)
	w.halt()
	change(backup)
	w.putBack(backup)
	w.sim.ResetCounts()
	w.start(policy.Settings{})
	return w
}

// TestWhatIsToBeKeptIsSoOnceTheStatusSaysSo: the machine was free, and is yet to be adopted. A backup that is put back then asks for
// what it asked for before.
func TestWhatIsToBeKeptIsSoOnceTheStatusSaysSo(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateProvisioning, metal3.StateDeprovisioning} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				backup := w.backup(state)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
				let(time.Minute)
				w.sim.ResetCounts()
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/states/provision") {
						return nil
					}
					return &simulator.Fault{Status: http.StatusConflict, Text: "Node is locked by host conductor-2, please retry after the current operation is completed."}
				})
				keepWhatIsThere(w)
				w.untilState(metal3.StateExternallyProvisioned, 10*time.Minute)
				w.halt()
				w.putBack(backup)
				w.sim.Intercept(nil)
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				let(time.Hour)
				w.saysLeftAlone()
				w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring("records that what is on it is to be kept"), Not(ContainSubstring("is gone from Ironic"))))
				w.g.Expect(w.sim.Total("PUT /v1/nodes/{node}/states/")).To(BeZero())
			})
		})
	}
}

// TestWhatWasAdoptedSinceIsLeftAlone: what the backup says, and asks for, is of what was given back before somebody else has
// installed the machine. It is kept, or the machine free, once somebody says so.
func TestWhatWasAdoptedSinceIsLeftAlone(t *testing.T) {
	nothing := func(h *metal3.BareMetalHost) { h.Spec.Image = nil }
	second := askFor("http://images.test/second.img")
	for name, c := range map[string]struct {
		state  metal3.ProvisioningState
		change func(*metal3.BareMetalHost)
	}{
		"being deployed":                       {metal3.StateProvisioning, func(*metal3.BareMetalHost) {}},
		"being deployed, nothing":              {metal3.StateProvisioning, nothing},
		"being given back":                     {metal3.StateDeprovisioning, nothing},
		"being given back, another image":      {metal3.StateDeprovisioning, second},
		"being given back before it was there": {metal3.StateDeprovisioning, func(h *metal3.BareMetalHost) { h.Status.Provisioning.Image = metal3.Image{} }},
		"provisioned":                          {metal3.StateProvisioned, func(*metal3.BareMetalHost) {}},
		"provisioned, nothing":                 {metal3.StateProvisioned, nothing},
		"provisioned, another image":           {metal3.StateProvisioned, second},
	} {
		for end, ends := range map[string]func(w *world){
			"kept": func(w *world) {
				keepWhatIsThere(w)
				w.until("kept", time.Minute, isExternal)
				let(time.Hour)
				w.runs()
				w.g.Expect(w.host().Status.Provisioning.Image.URL).To(BeEmpty())
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
			},
			"free": func(w *world) {
				w.edit(nothing)
				let(time.Hour)
				w.runs()
				w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{"provision_state": "available", "instance_info": map[string]any{}})).To(BeTrue())
				w.until("free", time.Hour, func(h *metal3.BareMetalHost) bool {
					return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.ErrorType == ""
				})
			},
		} {
			t.Run(name+"/"+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := adoptedSince(t, c.state, c.change)
					defer func() { w.stop() }()
					let(time.Hour)
					w.runs()
					h := w.host()
					w.g.Expect(condition(h, "Stalled").Reason).To(Equal("UnknownInstance"), "%s %s", h.Status.Provisioning.State, h.Status.ErrorMessage)
					w.g.Expect(h.Status.ErrorCount).To(Equal(1), "nothing is tried that could fail")
					w.g.Expect(condition(h, metal3.ReadyCondition).Status).To(BeEquivalentTo("False"))
					ends(w)
				})
			})
		}
	}
}

// TestWhatWasAdoptedSinceOutlivesItsHost, be it deleted once it says why its machine is left alone, or before anybody has had a look
// at that: it goes as the host would that has adopted the machine. Who has undeployed the node has it cleaned.
func TestWhatWasAdoptedSinceOutlivesItsHost(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateProvisioning, metal3.StateProvisioned, metal3.StateDeprovisioning} {
		for name, before := range map[string]func(w *world){
			"once it says so": func(*world) { let(time.Hour) },
			"at once":         func(w *world) { w.halt(); w.start(policy.Settings{}) },
			"after a restart": func(w *world) { let(time.Hour); w.halt(); w.start(policy.Settings{}) },
			"before Ironic's nodes are listed": func(w *world) {
				w.halt()
				begin := time.Now()
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/nodes") && time.Since(begin) < 10*time.Minute {
						return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "not now"}
					}
					return nil
				})
				w.start(policy.Settings{})
			},
			"which is not off": func(w *world) { w.edit(func(h *metal3.BareMetalHost) { h.Spec.DisablePowerOff = true }) },
		} {
			t.Run(string(state)+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := adoptedSince(t, state, func(*metal3.BareMetalHost) {})
					defer func() { w.stop() }()
					before(w)
					w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
					let(time.Hour)
					w.g.Expect(w.host()).To(BeNil())
					w.g.Expect(w.sim.Nodes()).To(BeEmpty())
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero(), "the machine is undeployed, or cleaned")
					w.g.Expect(w.events.said()).To(ContainSubstring("DeletedWithoutDeprovisioning: the host is deleted without cleaning its machine"))
					w.g.Expect(count1(w.events.list(), "DeletedWithoutDeprovisioning")).To(Equal(1))
				})
			})
		}
	}
}

// TestWhatWasAdoptedIsGivenBackByItsHost: nothing tells it from what was adopted since but what the status knows of the time before.
func TestWhatWasAdoptedIsGivenBackByItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		keepWhatIsThere(w)
		w.untilState(metal3.StateExternallyProvisioned, 10*time.Minute)
		let(time.Minute)
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.ExternallyProvisioned = false
			askFor("http://images.test/second.img")(h)
		})
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		w.annotate(names.Retry, "somebody looks at it")
		w.halt()
		w.start(policy.Settings{})
		let(time.Hour)
		w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
		w.sim.ResetCounts()
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		let(time.Hour)
		w.g.Expect(w.host()).To(BeNil())
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(1), "it is not cleaned")
		w.g.Expect(w.events.list()).NotTo(ContainElement("DeletedWithoutDeprovisioning"))
	})
}

// TestAnAdoptionThatIsCalledOffIsGivenBack: it was under way, and is none of after the host's status was written.
func TestAnAdoptionThatIsCalledOffIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Work = 5 * time.Second
		w := newWorld(t, o, policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		let(time.Minute)
		keepWhatIsThere(w)
		w.until("adopting", time.Minute, func(*metal3.BareMetalHost) bool {
			n, _ := w.sim.Node("lab~host-1")
			return n.ProvisionState == "adopting"
		})
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = false })
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
	})
}

// TestADeploymentThatAnotherControllerHasBegunIsTakenOver, also by a node that has had one of ours before, as in a fleet that was
// given to baremetal-operator for a time: what it deploys is in no record.
func TestADeploymentThatAnotherControllerHasBegunIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		let(time.Minute)
		w.halt()
		w.edit(askFor("http://images.test/second.img"))
		h := w.host()
		h.Status.Provisioning.State = metal3.StateProvisioning
		h.Status.OperationHistory.Provision = metal3.OperationMetric{Start: metav1.Now().Rfc3339Copy()}
		w.g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
		w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{
			"provision_state": "active", "power_state": "power on", "instance_uuid": string(h.UID),
			"instance_info": map[string]any{"image_source": "http://images.test/second.img", "image_checksum": "c0ffee"},
		})).To(BeTrue())
		n, _ := w.sim.Node("lab~host-1")
		w.g.Expect(n.Fields["extra"]).To(HaveKey(nodespec.KeyBegun))
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		let(time.Hour)
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned), w.host().Status.ErrorMessage)
		w.runs()
	})
}
