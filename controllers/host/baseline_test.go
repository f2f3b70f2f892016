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
	w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.Online = false })
	w.untilState(metal3.StateAvailable, time.Minute)
	let(time.Minute)
	backup := w.host()
	w.edit(func(h *metal3.BareMetalHost) {
		h.Spec.Online = true
		wantInstall(h)
	})
	w.untilState(metal3.StateProvisioned, time.Minute)
	let(time.Minute)
	w.stop()
	change(backup)
	w.edit(func(h *metal3.BareMetalHost) { h.Spec, h.Annotations = backup.Spec, backup.Annotations })
	h := w.host()
	h.Status = backup.Status
	w.g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
	w.sim.ResetCounts()
	w.start(policy.Settings{})
	return w
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
