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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestKilledWhileWorking kills the controller at each request to Ironic of three
// lives, before it is handled and before its answer arrives: one in which a host
// is prepared with volumes, BIOS settings and a firmware update, the same with a
// failure in between, and one in which a provisioned host is serviced in a reboot.
// Whatever the moment, each step is carried out exactly once.
func TestKilledWhileWorking(t *testing.T) {
	for name, life := range map[string]func(*testing.T, int32, bool) bool{
		"preparing": preparedLife, "preparing after a failure": repairedLife, "servicing": servicedLife,
	} {
		for _, handled := range []bool{false, true} {
			when := " before it is handled"
			if handled {
				when = " before its answer"
			}
			t.Run(name+when, func(t *testing.T) {
				step := int32(1)
				if testing.Short() {
					step = 5
				}
				n := int32(1)
				for ; life(t, n, handled); n += step {
				}
				NewWithT(t).Expect(n).To(BeNumerically(">", 10), "a life takes more requests than that")
			})
		}
	}
}

// workingWorld is a host whose machine has BIOS settings and a component. Its work lasts longer than it takes to
// start the program anew, as on a machine.
func workingWorld(t *testing.T, change func(*metal3.BareMetalHost), tune ...func(*simulator.Options)) *world {
	t.Helper()
	o := assisted(nil)
	o.Delays = simulator.Delays{Verify: time.Second, Inspect: time.Second, Clean: 10 * time.Second, Deploy: time.Second, Power: time.Second, Service: 10 * time.Second}
	for _, change := range tune {
		change(&o)
	}
	w := newWorld(t, o, policy.Settings{}, change)
	w.until("verified", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.ID != "" })
	id := w.host().Status.Provisioning.ID
	w.sim.SetBIOS(id, []map[string]any{
		{"name": "BootMode", "value": "Bios", "attribute_type": "Enumeration", "allowable_values": []any{"Bios", "Uefi"}},
		{"name": "Cores", "value": "4", "attribute_type": "Integer", "lower_bound": 1, "upper_bound": 64},
	})
	w.sim.SetFirmware(id, []map[string]any{
		{"component": "bios", "initial_version": "1", "current_version": "1", "created_at": "2026-01-01T00:00:00Z", "updated_at": nil},
		{"component": "bmc", "initial_version": "1", "current_version": "1", "created_at": "2026-01-01T00:00:00Z", "updated_at": nil},
	})
	return w
}

// wish writes into the firmware resources what is asked for.
func (w *world) wish() {
	w.t.Helper()
	meta := metav1.ObjectMeta{Namespace: lab.Namespace, Name: lab.Name}
	put := func(o client.Object, change func() error) {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			_, err := controllerutil.CreateOrUpdate(w.t.Context(), w.kube, o, change)
			return err
		})
		w.g.Expect(err).NotTo(HaveOccurred())
	}
	settings, components := &metal3.HostFirmwareSettings{ObjectMeta: meta}, &metal3.HostFirmwareComponents{ObjectMeta: meta}
	put(settings, func() error {
		settings.Spec.Settings = metal3.DesiredSettingsMap{"BootMode": intstr.FromString("Uefi"), "Cores": intstr.FromInt32(8)}
		return nil
	})
	put(components, func() error {
		components.Spec.Updates = []metal3.FirmwareUpdate{{Component: "bios", URL: "http://images/bios-2"}}
		return nil
	})
}

// killAt stops the controller at its n-th request from now on that is not the
// watch's own, and starts a new one. The result tells how many there were.
func (w *world) killAt(n int32, handled bool) *atomic.Int32 {
	var seen atomic.Int32
	die := make(chan struct{}, 1)
	w.sim.Intercept(func(r *http.Request) *simulator.Fault {
		if r.Method == http.MethodGet && (strings.HasSuffix(r.URL.Path, "/v1/nodes") || strings.HasSuffix(r.URL.Path, "/v1/")) || seen.Add(1) != n {
			return nil
		}
		die <- struct{}{}
		return &simulator.Fault{Cut: true, AfterHandling: handled}
	})
	go func() {
		select {
		case <-die:
			w.stop()
			w.start(policy.Settings{})
		case <-w.t.Context().Done():
		}
	}()
	return &seen
}

// settled checks that all wishes are on the machine and on record, after each
// step was carried out once.
func (w *world) settled(n int32, raid int) {
	w.t.Helper()
	h := w.host()
	w.g.Expect(h.Status.ErrorCount).To(BeZero(), "killed at request %d: %v", n, w.events.texts)
	steps := w.sim.Steps()
	w.g.Expect(steps["raid.create_configuration"]).To(Equal(raid), "killed at request %d: %v", n, steps)
	w.g.Expect(steps["bios.apply_configuration"]).To(Equal(1), "killed at request %d: %v", n, steps)
	w.g.Expect(steps["firmware.update"]).To(Equal(1), "killed at request %d: %v", n, steps)
	settings, err := w.rec.options.Firmware.Settings(w.t.Context(), h)
	w.g.Expect(err).NotTo(HaveOccurred())
	w.g.Expect(settings.Status.Settings).To(And(HaveKeyWithValue("BootMode", "Uefi"), HaveKeyWithValue("Cores", "8")))
	w.g.Expect(settings.Status.FirmwareSchema).NotTo(BeNil())
	components, err := w.rec.options.Firmware.Components(w.t.Context(), h)
	w.g.Expect(err).NotTo(HaveOccurred())
	w.g.Expect(components.Status.Updates).To(Equal(components.Spec.Updates))
	w.g.Expect(components.Status.Components).To(ContainElement(And(HaveField("Component", "bios"), HaveField("CurrentVersion", "bios-2"))))
	node, _ := w.sim.Node(h.Status.Provisioning.ID)
	w.g.Expect(node.Fields["extra"]).NotTo(HaveKey("ironflow_order"), "killed at request %d", n)
}

func preparedLife(t *testing.T, n int32, handled bool) (killed bool) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, func(h *metal3.BareMetalHost) {
			h.Spec.RAID = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: "1", Name: "root"}}}
		})
		defer func() { w.stop() }()
		w.wish()
		seen := w.killAt(n, handled)
		w.untilState(metal3.StateAvailable, 5*time.Minute)
		w.until("on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		killed = seen.Load() >= n
		w.settled(n, 1)
		h := w.host()
		w.g.Expect(h.Status.Provisioning.RAID).To(Equal(h.Spec.RAID))
		w.g.Expect(h.Status.Provisioning.RootDeviceHints).To(BeNil(), "the first volume is the root")
	})
	return killed
}

func repairedLife(t *testing.T, n int32, handled bool) (killed bool) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, func(h *metal3.BareMetalHost) { h.Spec.RAID = mirror.DeepCopy() })
		defer func() { w.stop() }()
		w.sim.FailStep("raid.create_configuration", "no disk")
		w.wish()
		seen := w.killAt(n, handled)
		w.until("failed", 5*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.PreparationError })
		w.sim.FailStep("raid.create_configuration", "")
		w.annotate(names.Retry, "1")
		w.until("repaired", 5*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
		})
		killed = seen.Load() >= n
		w.settled(n, 1)
		w.g.Expect(w.sim.Steps()["raid.delete_configuration"]).To(Equal(2), "killed at request %d", n)
		w.g.Expect(w.host().Status.Provisioning.RAID).To(Equal(mirror))
	})
	return killed
}

func servicedLife(t *testing.T, n int32, handled bool) (killed bool) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 5*time.Minute)
		w.until("on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		w.allowServicing()
		w.wish()
		let(time.Minute)
		w.g.Expect(w.sim.Steps()).NotTo(HaveKey("firmware.update"), "a machine in use is left alone")
		seen := w.killAt(n, handled)
		w.annotate(names.Reboot, "")
		w.until("serviced", 5*time.Minute, func(*metal3.BareMetalHost) bool { return w.sim.Steps()["firmware.update"] > 0 })
		w.until("back in use", 5*time.Minute, func(h *metal3.BareMetalHost) bool {
			_, asked := h.Annotations[names.Reboot]
			return !asked && h.Status.OperationalStatus == metal3.OperationalStatusOK && h.Status.PoweredOn
		})
		let(time.Minute)
		killed = seen.Load() >= n
		w.g.Expect(w.events.list()).To(ContainElement("ServicingComplete"))
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = false })
		w.until("off", time.Minute, func(h *metal3.BareMetalHost) bool { return !h.Status.PoweredOn })
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = true })
		w.until("on again", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		w.settled(n, 0)
	})
	return killed
}
