package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

func askFor(url string) func(*metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: url, Checksum: "c0ffee"} }
}

// TestABackupOfBeforeAnotherDeploymentTouchesNothing: what the backup says, and asks for, is older than what runs.
func TestABackupOfBeforeAnotherDeploymentTouchesNothing(t *testing.T) {
	const first, second = "http://images.test/first.img", "http://images.test/second.img"
	for name, c := range map[string]struct {
		state  metal3.ProvisioningState // that the backup was made in
		runs   string
		change func(*metal3.BareMetalHost) // what the backup holds besides
	}{
		"provisioned":             {state: metal3.StateProvisioned, runs: second},
		"provisioned, off":        {state: metal3.StateProvisioned, runs: second, change: func(h *metal3.BareMetalHost) { h.Spec.Online = false }},
		"provisioned, a third":    {state: metal3.StateProvisioned, runs: second, change: askFor("http://images.test/third.img")},
		"provisioned, nothing":    {state: metal3.StateProvisioned, runs: second, change: func(h *metal3.BareMetalHost) { h.Spec.Image = nil }},
		"the same, and nothing":   {state: metal3.StateProvisioned, runs: first, change: func(h *metal3.BareMetalHost) { h.Spec.Image = nil }},
		"being deployed":          {state: metal3.StateProvisioning, runs: second},
		"being given back":        {state: metal3.StateDeprovisioning, runs: second, change: askFor("http://images.test/third.img")},
		"the same was given back": {state: metal3.StateDeprovisioning, runs: first},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
					h.Spec.Online = true
					askFor(first)(h)
				})
				defer func() { w.stop() }()
				backup := w.backup(c.state)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
				w.edit(askFor(c.runs))
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				let(time.Minute)

				w.halt()
				if c.change != nil {
					c.change(backup)
				}
				w.putBack(backup)
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				let(time.Hour)
				w.runs()
				h := w.host()
				w.g.Expect(condition(h, "Stalled").Reason).To(Equal("OtherInstance"), h.Status.ErrorMessage)
				w.g.Expect(h.Status.ErrorMessage).To(And(ContainSubstring("deployed "+c.runs), ContainSubstring("undeploy the node")))
				w.g.Expect(h.Status.ErrorCount).To(Equal(1), "nothing is tried that could fail")
				w.g.Expect(condition(h, metal3.ReadyCondition).Status).To(BeEquivalentTo("False"))

				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = true; askFor(c.runs)(h) })
				w.until("taken over", time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.ErrorType == "" && h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.Provisioning.Image.URL == c.runs
				})
				let(time.Hour)
				w.runs()
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
			})
		})
	}
}

// TestWhatWasDeployedSinceIsGivenBackWithItsHost: it was deployed for this host, whatever the status says of it, and whoever deletes
// that asks for it to go.
func TestWhatWasDeployedSinceIsGivenBackWithItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		backup := w.backup(metal3.StateProvisioned)
		w.edit(askFor("http://images.test/second.img"))
		w.until("deployed", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.Image.URL == "http://images.test/second.img"
		})
		let(time.Minute)
		w.halt()
		w.putBack(backup)
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		let(time.Hour)
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("OtherInstance"))
		w.runs()
		cleaned := w.sim.Steps()["deploy.erase_devices_metadata"]
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		let(time.Hour)
		w.g.Expect(w.host()).To(BeNil())
		w.g.Expect(w.sim.Steps()["deploy.erase_devices_metadata"]).To(Equal(cleaned + 1))
	})
}

// TestWhatWasKeptAsItIsCanBeGivenBack by the host that was told to keep it, whatever its node has recorded of it.
func TestWhatWasKeptAsItIsCanBeGivenBack(t *testing.T) {
	for name, change := range map[string]func(*metal3.BareMetalHost){
		"available":                  func(*metal3.BareMetalHost) {},
		"inspecting":                 func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateInspecting },
		"another image is asked for": askFor("http://images.test/another.img"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := restored(t, change)
				defer func() { w.stop() }()
				let(time.Minute)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned, h.Spec.Online = true, true })
				w.untilState(metal3.StateExternallyProvisioned, time.Minute)
				let(time.Hour)
				w.runs()
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned, h.Spec.Image = false, nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
			})
		})
	}
}

// TestWhatIsTakenOverIsKnown: a host that is no more somebody else's has what its spec names. Another image is another wish then.
func TestWhatIsTakenOverIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
		defer func() { w.stop() }()
		w.untilState(metal3.StateExternallyProvisioned, 10*time.Minute)
		let(time.Minute)
		w.sim.ResetCounts()
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.ExternallyProvisioned = false
			askFor("http://images.test/first.img")(h)
		})
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Hour)
		w.g.Expect(w.host().Status.Provisioning.Image.URL).To(Equal("http://images.test/first.img"))
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero())
		w.edit(askFor("http://images.test/second.img"))
		w.until("deployed as asked", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.Image.URL == "http://images.test/second.img"
		})
	})
}

// backup is the host as of when it comes to a state, be it that it is given back or deployed first.
func (w *world) backup(state metal3.ProvisioningState) (h *metal3.BareMetalHost) {
	w.t.Helper()
	if state == metal3.StateDeprovisioning {
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
	}
	w.until("a backup", 10*time.Minute, func(now *metal3.BareMetalHost) bool {
		h = now.DeepCopy()
		return now.Status.Provisioning.State == state
	})
	w.until("provisioned, or free", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateProvisioned || h.Status.Provisioning.State == metal3.StateAvailable
	})
	return h
}

// putBack restores a backup.
func (w *world) putBack(backup *metal3.BareMetalHost) {
	w.t.Helper()
	w.edit(func(h *metal3.BareMetalHost) { h.Spec, h.Annotations = backup.Spec, backup.Annotations })
	w.g.Eventually(func() error { // what was stopped may be heard of once more
		h := w.host()
		h.Status = backup.Status
		return w.kube.Status().Update(w.t.Context(), h)
	}).Should(Succeed())
}
