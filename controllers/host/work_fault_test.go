package host

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// onFire is why a step fails.
const onFire = "the controller is on fire"

func TestFailedPreparation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, func(h *metal3.BareMetalHost) { h.Spec.RAID = mirror.DeepCopy() })
		defer func() { w.stop() }()
		w.sim.FailStep("raid.create_configuration", onFire)
		w.wish()
		w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.PreparationError })
		h := w.host()
		w.g.Expect(h.Status.ErrorMessage).To(ContainSubstring(onFire))
		w.g.Expect(h.Status.Provisioning.RAID).To(BeNil(), "nothing is claimed that is not there")
		node, _ := w.sim.Node(h.Status.Provisioning.ID)
		w.g.Expect(plan.OrderOf(&ironic.Node{Extra: node.Fields["extra"].(map[string]any)}).Failed).To(BeTrue())
		w.sim.FailStep("raid.create_configuration", "")
		took := w.untilState(metal3.StateAvailable, 5*time.Minute)
		w.g.Expect(took).To(BeNumerically(">", 50*time.Second), "the back-off")
		w.g.Expect(w.sim.Steps()["raid.delete_configuration"]).To(Equal(2), "what was half made is made anew")
		w.settled(0, 1)
	})
}

// TestSpecThatGoesBackAfterAFailure: the volumes of before are gone with the failed change.
func TestSpecThatGoesBackAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, func(h *metal3.BareMetalHost) { h.Spec.RAID = mirror.DeepCopy() })
		defer func() { w.stop() }()
		w.untilState(metal3.StateAvailable, time.Minute)
		w.sim.FailStep("raid.create_configuration", "no such level")
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.RAID.HardwareRAIDVolumes[0].Level = "6" })
		w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.PreparationError })
		w.sim.FailStep("raid.create_configuration", "")
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.RAID = mirror.DeepCopy() })
		w.untilState(metal3.StateAvailable, time.Minute)
		w.g.Expect(w.sim.Steps()["raid.create_configuration"]).To(Equal(2))
		w.g.Expect(w.host().Status.Provisioning.RAID).To(Equal(mirror))
	})
}

func TestFailedServicing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, wantInstall)
		defer func() { w.stop() }()
		w.sim.FailStep("bios.apply_configuration", onFire)
		w.untilState(metal3.StateProvisioned, 5*time.Minute)
		w.allowServicing()
		w.wish()
		w.annotate(names.Reboot, "")
		w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ServicingError })
		w.g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring(onFire), "from the history: last_error is lost")
		w.sim.FailStep("bios.apply_configuration", "")
		w.until("back in use", 5*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.OperationalStatus == metal3.OperationalStatusOK && h.Status.PoweredOn
		})
		let(time.Minute)
		w.settled(0, 0)
	})
}

// TestServicingGivenUp removes the wish while its attempt fails again and again.
func TestServicingGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, wantInstall)
		defer func() { w.stop() }()
		w.sim.FailStep("bios.apply_configuration", onFire)
		w.untilState(metal3.StateProvisioned, 5*time.Minute)
		w.g.Expect(w.kube.Create(t.Context(), &metal3.HostUpdatePolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: lab.Name},
			Spec:       metal3.HostUpdatePolicySpec{FirmwareSettings: metal3.HostUpdatePolicyOnReboot},
		})).To(Succeed())
		w.wish()
		w.annotate(names.Reboot, "")
		w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ServicingError })
		settings, err := w.rec.options.Firmware.Settings(t.Context(), w.host())
		w.g.Expect(err).NotTo(HaveOccurred())
		settings.Spec.Settings, settings.Generation = metal3.DesiredSettingsMap{}, settings.Generation+1
		w.g.Expect(w.kube.Update(t.Context(), settings)).To(Succeed())
		w.until("back in use", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.OperationalStatus == metal3.OperationalStatusOK && h.Status.PoweredOn && h.Status.ErrorType == ""
		})
		w.g.Expect(strings.Join(w.events.list(), " ")).To(ContainSubstring("ServicingAborted"))
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
	})
}

// TestWishDuringThePowerOn: a firmware wish and a reboot annotation reach a host in
// use while a pass has its machine, which was off, started, so that what the pass
// writes is refused. The machine is rebooted all the same, and serviced in between.
func TestWishDuringThePowerOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned, h.Spec.Online = true, false })
		defer func() { w.stop() }()
		w.untilState(metal3.StateExternallyProvisioned, time.Minute)
		let(time.Minute)
		var begun atomic.Bool
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/states/power") && begun.CompareAndSwap(false, true) {
				w.allowServicing()
				w.wish()
				w.annotate(names.Reboot, `{"mode":"hard"}`)
			}
			return nil
		})
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = true })
		w.until("serviced", 5*time.Minute, func(*metal3.BareMetalHost) bool { return w.sim.Steps()["firmware.update"] > 0 })
		w.until("back in use", time.Minute, func(h *metal3.BareMetalHost) bool {
			_, asked := h.Annotations[names.Reboot]
			return !asked && h.Status.OperationalStatus == metal3.OperationalStatusOK && h.Status.PoweredOn
		})
		let(time.Minute)
		w.settled(0, 0)
		w.g.Expect(count1(w.events.list(), "Servicing")).To(Equal(2), "started and complete, once: %v", w.events.list())
	})
}

// allowServicing lets settings and firmware of a host in use be changed in reboots.
func (w *world) allowServicing() {
	w.t.Helper()
	w.g.Expect(w.kube.Create(w.t.Context(), &metal3.HostUpdatePolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: lab.Name},
		Spec:       metal3.HostUpdatePolicySpec{FirmwareSettings: metal3.HostUpdatePolicyOnReboot, FirmwareUpdates: metal3.HostUpdatePolicyOnReboot},
	})).To(Succeed())
}

// TestAWishForAMachineThatIsNeverOffSaysWhatItWaitsFor: servicing needs a machine that is off.
func TestAWishForAMachineThatIsNeverOffSaysWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, func(h *metal3.BareMetalHost) {
			wantInstall(h)
			h.Spec.DisablePowerOff = true
		})
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 5*time.Minute)
		let(time.Minute)
		w.allowServicing()
		w.wish()
		said := func() string { return condition(w.host(), metal3.ProgressingCondition).Message }
		let(time.Minute)
		w.g.Expect(said()).To(ContainSubstring("spec.disablePowerOff"), "as soon as it is asked for")
		w.annotate(names.Reboot, `{"mode":"hard"}`)
		let(time.Hour)
		w.g.Expect(said()).To(ContainSubstring("spec.disablePowerOff"))
		w.g.Expect(w.sim.Steps()["bios.apply_configuration"]).To(BeZero())
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.DisablePowerOff = false })
		w.annotate(names.Reboot, `{"mode":"hard"}`)
		w.until("carried out", 10*time.Minute, func(*metal3.BareMetalHost) bool { return w.sim.Steps()["bios.apply_configuration"] == 1 })
		let(time.Minute)
		w.g.Expect(said()).NotTo(ContainSubstring("spec.disablePowerOff"))
	})
}

// untilFlashed has the machine get its firmware while it is available, and changes its host then; nil for not.
func (w *world) untilFlashed(change func(*metal3.BareMetalHost)) {
	w.t.Helper()
	w.untilAtRest()
	w.wish()
	w.until("flashed", 5*time.Minute, func(h *metal3.BareMetalHost) bool {
		return w.sim.Steps()["firmware.update"] == 1 && h.Status.Provisioning.State == metal3.StateAvailable
	})
	if change != nil {
		w.edit(change)
		w.untilState(metal3.StateProvisioned, 5*time.Minute)
	}
}

// TestFirmwareIsNotFlashedAgainAfterAMove: the status of HostFirmwareComponents does not move with it, so that what the machine
// has is not known. A wish of after the move is carried out.
func TestFirmwareIsNotFlashedAgainAfterAMove(t *testing.T) {
	for name, change := range map[string]func(*metal3.BareMetalHost){"available": nil, "provisioned": wantInstall} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := workingWorld(t, nil)
				defer func() { w.stop() }()
				w.untilFlashed(change)
				let(5 * time.Minute)
				w.stop()
				w.move()
				w.start(w.with.Settings)
				w.unpause()
				let(10 * time.Minute)
				if change != nil {
					w.allowServicing()
					w.annotate(names.Reboot, "")
					let(10 * time.Minute)
				}
				w.g.Expect(w.sim.Steps()["firmware.update"]).To(Equal(1))
				components := &metal3.HostFirmwareComponents{}
				w.g.Expect(w.kube.Get(t.Context(), w.key, components)).To(Succeed())
				w.g.Expect(components.Status.Conditions).To(ContainElement(HaveField("Reason", "TakenAsMade")))

				components.Spec.Updates = []metal3.FirmwareUpdate{{Component: "bios", URL: "http://images/bios-3"}}
				w.g.Expect(w.kube.Update(t.Context(), components)).To(Succeed())
				let(time.Minute)
				if change != nil {
					w.annotate(names.Reboot, "")
				}
				w.until("flashed again", 10*time.Minute, func(*metal3.BareMetalHost) bool { return w.sim.Steps()["firmware.update"] == 2 })
			})
		})
	}
}

// move has host and firmware resources made anew as clusterctl does: all of the host's status comes with it, in an annotation, and
// none of theirs.
func (w *world) move() {
	w.t.Helper()
	ctx, old := w.t.Context(), w.host()
	raw, err := json.Marshal(old.Status)
	w.g.Expect(err).NotTo(HaveOccurred())
	settings, components := &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}
	w.g.Expect(w.kube.Get(ctx, w.key, settings)).To(Succeed())
	w.g.Expect(w.kube.Get(ctx, w.key, components)).To(Succeed())
	for _, o := range []client.Object{settings.DeepCopy(), components.DeepCopy(), old.DeepCopy()} {
		o.SetFinalizers(nil)
		w.g.Expect(w.kube.Update(ctx, o)).To(Succeed())
		w.g.Expect(client.IgnoreNotFound(w.kube.Delete(ctx, o))).To(Succeed())
	}
	at := metav1.ObjectMeta{Namespace: old.Namespace, Name: old.Name}
	moved := &metal3.BareMetalHost{ObjectMeta: *at.DeepCopy(), Spec: old.Spec}
	moved.Annotations = map[string]string{names.Status: string(raw), names.Paused: ""}
	w.g.Expect(w.kube.Create(ctx, moved)).To(Succeed())
	w.g.Expect(w.kube.Create(ctx, &metal3.HostFirmwareSettings{ObjectMeta: at, Spec: settings.Spec})).To(Succeed())
	w.g.Expect(w.kube.Create(ctx, &metal3.HostFirmwareComponents{ObjectMeta: at, Spec: components.Spec})).To(Succeed())
}
