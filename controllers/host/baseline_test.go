package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

// restored is a world whose cluster was restored from a backup of before the deployment of what
// runs on its machine: change edits what the backup holds.
func restored(t *testing.T, change func(*metal3.BareMetalHost)) *world {
	t.Helper()
	w, restore := backedUp(t)
	w.halt()
	restore(change)
	w.sim.ResetCounts()
	w.start(policy.Settings{})
	return w
}

// backedUp is a world in which something was deployed since a backup was made, and what
// restores that.
func backedUp(t *testing.T) (w *world, restore func(change func(*metal3.BareMetalHost))) {
	t.Helper()
	w = newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.Online = false })
	w.untilState(metal3.StateAvailable, time.Minute)
	let(time.Minute)
	backup := w.host()
	w.edit(func(h *metal3.BareMetalHost) {
		h.Spec.Online = true
		wantInstall(h)
	})
	w.untilState(metal3.StateProvisioned, time.Minute)
	let(time.Minute)
	return w, func(change func(*metal3.BareMetalHost)) {
		change(backup)
		w.putBack(backup)
	}
}

// runs expects that nothing was done to the machine.
func (w *world) runs() {
	w.t.Helper()
	n, _ := w.sim.Node("lab~host-1")
	w.g.Expect(n.PowerState).To(Equal("power on"))
	w.g.Expect(n.ProvisionState).To(Equal("active"))
	for _, request := range []string{"power", "provision"} {
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/"+request]).To(BeZero(), request)
	}
}

// TestAnActiveNodeOfAnAvailableHostIsNotSwitchedOff, nor on, nor restarted, nor deployed, nor inspected, nor prepared: what
// runs on it is not known.
func TestAnActiveNodeOfAnAvailableHostIsNotSwitchedOff(t *testing.T) {
	for name, change := range map[string]func(*metal3.BareMetalHost){
		"off": func(*metal3.BareMetalHost) {},
		"on":  func(h *metal3.BareMetalHost) { h.Spec.Online = true },
		"an image is asked for": func(h *metal3.BareMetalHost) {
			h.Spec.Online, h.Spec.Image = true, &metal3.Image{URL: "http://images.test/another.img", Checksum: "c0ffee"}
		},
		"a reboot with force": func(h *metal3.BareMetalHost) {
			h.Spec.Online, h.Annotations = true, map[string]string{"reboot.metal3.io": `{"force":true,"mode":"hard"}`}
		},
		"an inspection": func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{"inspect.metal3.io": ""}
		},
		"other root hints": func(h *metal3.BareMetalHost) {
			h.Spec.RootDeviceHints = &metal3.RootDeviceHints{DeviceName: "/dev/sdx"}
		},
		"inspecting":       func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateInspecting },
		"preparing":        func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StatePreparing },
		"no status at all": func(h *metal3.BareMetalHost) { h.Status = metal3.BareMetalHostStatus{} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := restored(t, change)
				defer func() { w.stop() }()
				let(time.Hour)
				w.runs()
				h := w.host()
				w.g.Expect(h.Status.ErrorType).To(Equal(metal3.RegistrationError))
				w.g.Expect(h.Status.ErrorCount).To(Equal(1), "nothing is tried that could fail")
				w.g.Expect(h.Status.ErrorMessage).To(And(ContainSubstring("start_assisted_install"), ContainSubstring("spec.externallyProvisioned")))
				w.g.Expect(condition(h, metal3.ProgressingCondition).Message).To(ContainSubstring("somebody to set spec.externallyProvisioned"))

				w.edit(func(h *metal3.BareMetalHost) {
					h.Spec.ExternallyProvisioned, h.Spec.Online, h.Annotations = true, true, nil
				})
				w.untilState(metal3.StateExternallyProvisioned, time.Minute)
				let(time.Minute)
				w.runs()
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
			})
		})
	}
}

// TestWhatWasUndeployedIsAFreeMachineAgain: that is how somebody says that nothing of it is to be kept.
func TestWhatWasUndeployedIsAFreeMachineAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := restored(t, func(*metal3.BareMetalHost) {})
		defer func() { w.stop() }()
		let(time.Minute)
		w.g.Expect(w.host().Status.ErrorType).To(Equal(metal3.RegistrationError))
		w.sim.Edit("lab~host-1", map[string]any{"provision_state": "available"})
		w.until("free", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == "" && !h.Status.PoweredOn })
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
	})
}

// TestWhatRunsAlreadyIsTakenOver: a backup in which the deployment was asked for, and had not begun.
func TestWhatRunsAlreadyIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := restored(t, func(h *metal3.BareMetalHost) {
			h.Spec.Online = true
			wantInstall(h)
		})
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Hour)
		w.runs()
		w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
	})
}

// withoutNode is a restored world whose node is gone as well: Ironic's database was lost with the cluster's, or the host was
// detached. The machine, as its BMC shows, is on or off.
func withoutNode(t *testing.T, power string, change func(*metal3.BareMetalHost)) *world {
	t.Helper()
	w := restored(t, change)
	w.halt()
	w.sim.Wipe()
	w.sim.ResetCounts()
	w.start(policy.Settings{})
	w.until("enrolled", time.Minute, func(*metal3.BareMetalHost) bool { _, found := w.sim.Node("lab~host-1"); return found })
	w.sim.Edit("lab~host-1", map[string]any{"power_state": power})
	return w
}

// TestAMachineThatIsOnAndWhoseNodeIsGoneIsLeftAlone: the status of a backup says that it is free and off.
func TestAMachineThatIsOnAndWhoseNodeIsGoneIsLeftAlone(t *testing.T) {
	never := []string{"power", "provision"}
	for name, c := range map[string]struct {
		change func(*metal3.BareMetalHost)
		mend   func(*metal3.BareMetalHost)
		ends   metal3.ProvisioningState
	}{
		"what runs is kept": {mend: func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned, h.Spec.Online = true, true }, ends: metal3.StateExternallyProvisioned},
		"an image is asked for, by a program that takes it for free": {
			change: func(h *metal3.BareMetalHost) { h.Spec.Online = true; wantInstall(h) },
			mend:   func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true }, ends: metal3.StateExternallyProvisioned,
		},
		"it is inspected": {mend: func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"inspect.metal3.io": ""} }, ends: metal3.StateAvailable},
		"it may be on":    {mend: func(h *metal3.BareMetalHost) { h.Spec.Online = true }, ends: metal3.StateAvailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				change := c.change
				if change == nil {
					change = func(*metal3.BareMetalHost) {}
				}
				w := withoutNode(t, "power on", change)
				defer func() { w.stop() }()
				w.until("told", time.Minute, func(h *metal3.BareMetalHost) bool { return condition(h, "Stalled").Reason == "MachineMayBeInUse" })
				for i := range 3 { // nor by a restart, a retry or time
					w.annotate("ironflow.io/retry", string(rune('a'+i)))
					let(time.Hour)
					w.stop()
					w.start(policy.Settings{})
					let(time.Hour)
				}
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/"+never[0]]).To(BeZero())
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/"+never[1]]).To(Equal(1), "verified")
				w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"))
				w.g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring("somebody to set spec.externallyProvisioned"))

				w.edit(c.mend)
				w.until("mended", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.Provisioning.State == c.ends && h.Status.ErrorType == ""
				})
				let(10 * time.Minute)
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
				if name == "it is inspected" {
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeNumerically(">", 1))
					return
				}
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
			})
		})
	}
}

// TestAMachineThatIsOffAndWhoseNodeIsGoneIsFree: a fleet of free machines outlives the loss of Ironic's database by itself.
func TestAMachineThatIsOffAndWhoseNodeIsGoneIsFree(t *testing.T) {
	for name, power := range map[string]string{"off": "power off", "on, and switched off by hand": "power on"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := withoutNode(t, power, func(*metal3.BareMetalHost) {})
				defer func() { w.stop() }()
				let(time.Hour)
				w.sim.Edit("lab~host-1", map[string]any{"power_state": "power off"})
				let(time.Hour)
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
				w.edit(func(h *metal3.BareMetalHost) {
					h.Spec.Online = true
					wantInstall(h)
				})
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
			})
		})
	}
}
