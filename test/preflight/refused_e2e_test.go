//go:build e2e

package preflight_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// refusal is a wish that cannot work, and one that can.
type refusal struct {
	// field is named, and error is the kind of error that the host shows.
	field string
	error metal3.ErrorType
	// system is the machine.
	system simulator.System
	// wish edits the host before it is created; others are what belongs to it.
	wish   func(*world, *metal3.BareMetalHost)
	others func(*world) []client.Object
	// lasting says that the wish is looked for afterwards.
	lasting bool
	// later makes the wish that cannot work when the host is available, instead.
	later func(*testing.T, *host)
	// correct mends the wish, and there says what is then to be seen.
	correct func(*testing.T, *host)
	there   func(*testing.T, *host)
}

// TestWishesThatCannotWork: each is refused with its field, nothing is done to the
// machine for it, and after the correction the host goes on without being told to.
// All hosts are on their way at the same time.
func TestWishesThatCannotWork(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	hosts := map[string]*host{}
	for name, c := range refusals {
		hosts[name] = c.create(t, w, name)
	}
	for name, c := range refusals {
		t.Run("refused/"+name, func(t *testing.T) { c.refused(t, hosts[name]) })
	}
	g.Consistently(func(g Gomega) {
		for _, h := range hosts {
			h.untouched(t, g)
		}
	}, pause, glance).Should(Succeed())
	for name, c := range refusals {
		c.correct(t, hosts[name])
	}
	for name, c := range refusals {
		t.Run("corrected/"+name, func(t *testing.T) { c.corrected(t, hosts[name]) })
	}
}

var refusals = map[string]refusal{
	"raid-level": {
		field: "spec.raid.hardwareRAIDVolumes[0].level", error: metal3.PreparationError, lasting: true,
		// What controllers are in a machine that is off is not known for sure, and blocks nothing.
		system: simulator.System{Power: simulator.On},
		wish: func(_ *world, h *metal3.BareMetalHost) {
			h.Spec.Online, h.Spec.InspectionMode = true, metal3.InspectionModeDisabled
		},
		later:   func(t *testing.T, h *host) { change(t, h, &metal3.BareMetalHost{}, mirrored("5")) },
		correct: func(t *testing.T, h *host) { change(t, h, &metal3.BareMetalHost{}, mirrored("1")) },
		there: func(t *testing.T, h *host) {
			NewWithT(t).Expect(h.volumes(t)).To(Equal([]string{"RAID1"}))
			NewWithT(t).Expect(h.targets(t)).To(ContainElement("clean"))
		},
	},
	"bios-setting": {
		field: "spec.settings.SysProfile", error: metal3.InspectionError, lasting: true,
		wish: func(*world, *metal3.BareMetalHost) {},
		others: func(*world) []client.Object {
			return []client.Object{&metal3.HostFirmwareSettings{Spec: metal3.HostFirmwareSettingsSpec{Settings: metal3.DesiredSettingsMap{"SysProfile": intstr.FromString("Loud")}}}}
		},
		correct: func(t *testing.T, h *host) {
			change(t, h, &metal3.HostFirmwareSettings{}, func(s *metal3.HostFirmwareSettings) {
				s.Spec.Settings["SysProfile"] = intstr.FromString("DenseConfig")
			})
		},
		there: func(t *testing.T, h *host) {
			var bios struct{ Attributes map[string]any }
			h.redfish(t, "/Bios", &bios)
			NewWithT(t).Expect(bios.Attributes).To(HaveKeyWithValue("SysProfile", "DenseConfig"))
		},
	},
	"firmware-update": {
		field: "spec.updates[0].url", error: metal3.InspectionError, lasting: true,
		wish: func(*world, *metal3.BareMetalHost) {},
		others: func(*world) []client.Object {
			return []client.Object{&metal3.HostFirmwareComponents{Spec: metal3.HostFirmwareComponentsSpec{
				Updates: []metal3.FirmwareUpdate{{Component: "bios", URL: "ftp://192.0.2.9/bios-2.1.0.bin"}},
			}}}
		},
		correct: func(t *testing.T, h *host) {
			change(t, h, &metal3.HostFirmwareComponents{}, func(c *metal3.HostFirmwareComponents) { c.Spec.Updates[0].URL = h.images + "/bios-2.1.0.bin" })
		},
		there: func(t *testing.T, h *host) {
			var system struct{ BiosVersion string }
			h.redfish(t, "", &system)
			NewWithT(t).Expect(system.BiosVersion).To(Equal("2.1.0"))
		},
	},
	"image-size": {
		field: "spec.image.url", error: metal3.InspectionError,
		wish: func(w *world, h *metal3.BareMetalHost) {
			h.Spec.Image = &metal3.Image{URL: w.images + large, DiskFormat: new("live-iso")}
		},
		correct: func(t *testing.T, h *host) {
			change(t, h, &metal3.BareMetalHost{}, func(b *metal3.BareMetalHost) { b.Spec.Image.URL = h.images + "/small.iso" })
		},
		there: func(t *testing.T, h *host) {
			NewWithT(t).Expect(h.volumes(t)).To(Equal([]string{volume.RAIDType}), "nobody asked for others")
		},
	},
	"boot-mode": {
		field: "spec.bootMode", error: metal3.InspectionError, system: simulator.System{Quirks: map[simulator.Quirk]int{simulator.NoSecureBoot: simulator.Always}},
		wish: func(_ *world, h *metal3.BareMetalHost) { h.Spec.BootMode = metal3.UEFISecureBoot },
		correct: func(t *testing.T, h *host) {
			change(t, h, &metal3.BareMetalHost{}, func(b *metal3.BareMetalHost) { b.Spec.BootMode = metal3.UEFI })
		},
		there: func(t *testing.T, h *host) {
			NewWithT(t).Expect(h.volumes(t)).To(Equal([]string{volume.RAIDType}), "nobody asked for others")
		},
	},
}

// mirrored asks for a volume.
func mirrored(level string) func(*metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) {
		h.Spec.RAID = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: level, Name: "root", SizeGibibytes: new(100)}}}
	}
}

func available(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.ErrorType == "" && h.Status.OperationalStatus == metal3.OperationalStatusOK
}

func (c refusal) create(t *testing.T, w *world, name string) *host {
	var others []client.Object
	if c.others != nil {
		others = c.others(w)
	}
	return w.newHost(t, name, c.system, func(h *metal3.BareMetalHost) { c.wish(w, h) }, others...)
}

// refused waits for the refusal, and shows that a person can see it.
func (c refusal) refused(t *testing.T, h *host) {
	g := NewWithT(t)
	if c.later != nil {
		h.until(t, "available", available)
		c.later(t, h)
	}
	h.until(t, "refused", func(b *metal3.BareMetalHost) bool { return b.Status.ErrorType == c.error })
	b := h.get(t)
	t.Logf("refused: %s", b.Status.ErrorMessage)
	g.Expect(b.Status.ErrorMessage).To(ContainSubstring(c.field))
	g.Expect(meta.FindStatusCondition(b.Status.Conditions, "Stalled")).To(And(Not(BeNil()), HaveField("Reason", "PreflightFailed")))
	g.Expect(h.condition(t, v1alpha1.PreflightPassed)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "PreflightFailed"), HaveField("Message", ContainSubstring(c.field))))
}

// corrected waits until the host has gone on, and shows that the wish came true.
func (c refusal) corrected(t *testing.T, h *host) {
	g := NewWithT(t)
	h.until(t, "available", func(b *metal3.BareMetalHost) bool {
		return available(b) && h.condition(t, v1alpha1.PreflightPassed).Status == metav1.ConditionTrue
	})
	if c.lasting {
		h.until(t, "in sync", func(*metal3.BareMetalHost) bool {
			return h.condition(t, v1alpha1.InSync).Status == metav1.ConditionTrue
		})
	}
	g.Expect(h.get(t).Annotations).NotTo(HaveKey(names.Retry))
	g.Expect(h.get(t).Status.ErrorCount).To(BeZero())
	c.there(t, h)
}

// untouched says whether nothing was done to the machine: Ironic was asked for nothing
// that starts it, its power was not switched, and what is on its disks is still there.
func (h *host) untouched(t *testing.T, g Gomega) {
	for _, target := range []string{"clean", "inspect", "active", "service"} {
		g.Expect(h.targets(t)).NotTo(ContainElement(target), h.name)
	}
	g.Expect(h.machine.PowerChanges()).To(BeZero(), h.name)
	g.Expect(h.volumes(t)).To(Equal([]string{volume.RAIDType}), h.name)
}
