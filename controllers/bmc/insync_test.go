package bmc

import (
	"strings"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// phase puts the host into a phase, or to rest in it.
func (w *world) phase(state metal3.ProvisioningState, progressing metav1.ConditionStatus) {
	w.T.Helper()
	w.Host(func(h *metal3.BareMetalHost) {
		h.Status.Provisioning.State, h.Status.OperationalStatus = state, metal3.OperationalStatusOK
		h.Status.Conditions = []metav1.Condition{{Type: metal3.ProgressingCondition, Status: progressing, Reason: "Test", LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Second))}}
	})
}

// settings asks for a BIOS setting, and shows what Ironic has read.
func (w *world) settings(wish, shown string) {
	w.T.Helper()
	s := &metal3.HostFirmwareSettings{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	s.Spec.Settings = metal3.DesiredSettingsMap{"SysProfile": intstr.FromString(wish)}
	w.Create(s)
	w.showSetting(shown)
}

func (w *world) showSetting(shown string) {
	w.T.Helper()
	s := &metal3.HostFirmwareSettings{}
	w.Expect(w.Kube.Get(w.T.Context(), key, s)).To(Succeed())
	s.Status.Settings = metal3.SettingsMap{"SysProfile": shown}
	w.Expect(w.Kube.Status().Update(w.T.Context(), s)).To(Succeed())
}

// updated asks for a BIOS update, and shows the version that Ironic has read.
func (w *world) updated(version string) {
	w.T.Helper()
	c := &metal3.HostFirmwareComponents{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	c.Spec.Updates = []metal3.FirmwareUpdate{{Component: "bios", URL: "https://192.0.2.9/bios.bin"}}
	w.Create(c)
	c.Status.Components = []metal3.FirmwareComponentStatus{{Component: "bios", CurrentVersion: version}}
	w.Expect(w.Kube.Status().Update(w.T.Context(), c)).To(Succeed())
}

// made asks for a mirror that Ironic says it has made.
func (w *world) made() {
	w.T.Helper()
	w.Host(func(h *metal3.BareMetalHost) { level("1")(h); h.Status.Provisioning.RAID = h.Spec.RAID })
}

// profile is a machine with a value of the setting SysProfile.
func profile(value string, quirks ...simulator.Quirk) simulator.System {
	bios := simulator.DefaultBIOS()
	bios.Attributes = map[string]any{"SysProfile": value}
	system := simulator.System{BIOS: bios, Quirks: map[simulator.Quirk]int{}}
	for _, q := range quirks {
		system.Quirks[q] = simulator.Always
	}
	return system
}

// mirror is a machine that is on, with volumes of 10 GiB.
func mirror(volumes ...simulator.Volume) simulator.System {
	storage := simulator.DefaultStorage()
	storage[0].Volumes = volumes
	return simulator.System{Power: simulator.On, Storage: storage}
}

// TestInSync: what was asked for is looked for when the work is over.
func TestInSync(t *testing.T) {
	for name, c := range map[string]struct {
		system simulator.System
		wish   func(*world)
		status metav1.ConditionStatus
		reason string
		says   string
	}{
		"the setting is there": {profile("DenseConfig"), func(w *world) { w.settings("DenseConfig", "DenseConfig") }, metav1.ConditionTrue, ReasonInSync, ""},
		"the BMC shows another": {
			profile("Custom"), func(w *world) { w.settings("DenseConfig", "DenseConfig") }, metav1.ConditionFalse, ReasonDrift,
			"spec.settings.SysProfile of HostFirmwareSettings is to be DenseConfig, and the BMC shows Custom.",
		},
		"Ironic shows another":    {profile("DenseConfig"), func(w *world) { w.settings("DenseConfig", "Custom") }, metav1.ConditionFalse, ReasonDrift, "and Ironic shows Custom."},
		"the settings are unread": {profile("DenseConfig", simulator.BIOSFails), func(w *world) { w.settings("DenseConfig", "DenseConfig") }, metav1.ConditionUnknown, ReasonNotKnown, ""},
		"the volume is there":     {mirror(simulator.Volume{RAIDType: "RAID1", CapacityBytes: 10 << 30, Drives: []string{"Disk.0", "Disk.1"}}), (*world).made, metav1.ConditionTrue, ReasonInSync, ""},
		"the volume is gone":      {mirror(), (*world).made, metav1.ConditionFalse, ReasonDrift, "spec.raid.hardwareRAIDVolumes[0] of BareMetalHost"},
		"a volume is of another":  {mirror(simulator.Volume{RAIDType: "RAID0", CapacityBytes: 10 << 30, Drives: []string{"Disk.0"}}), (*world).made, metav1.ConditionFalse, ReasonDrift, "RAID0"},
		"the volume was not made": {mirror(), func(w *world) { w.Host(level("1")) }, metav1.ConditionTrue, ReasonInSync, ""},
		"the version is there":    {simulator.System{Firmware: simulator.Firmware{BIOS: "2.1.0"}}, func(w *world) { w.updated("2.1.0") }, metav1.ConditionTrue, ReasonInSync, ""},
		"the BMC has another": {
			simulator.System{Firmware: simulator.Firmware{BIOS: "1.0.0"}},
			func(w *world) { w.updated("2.1.0") }, metav1.ConditionFalse, ReasonDrift,
			"2.1.0, and the BMC shows 1.0.0.",
		},
		"the work is not over": {profile("Custom"), func(w *world) {
			w.settings("DenseConfig", "Custom")
			w.phase(metal3.StatePreparing, metav1.ConditionTrue)
		}, metav1.ConditionUnknown, ReasonAtWork, ""},
		"the host shows an error": {profile("Custom"), func(w *world) {
			w.settings("DenseConfig", "Custom")
			w.Host(func(h *metal3.BareMetalHost) { h.Status.ErrorType = metal3.PreparationError })
		}, metav1.ConditionUnknown, ReasonAtWork, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.system)
			w.ahead.Store(int64(-time.Hour)) // the report of the registration is an old one
			w.registering()
			w.Until(v1alpha1.Reachable, metav1.ConditionTrue, ReasonAnswered)
			w.ahead.Store(0)
			if c.reason != ReasonAtWork {
				w.phase(metal3.StateAvailable, metav1.ConditionFalse)
			}
			c.wish(w)
			b := w.Until(v1alpha1.InSync, c.status, c.reason)
			w.Expect(meta.FindStatusCondition(b.Status.Conditions, v1alpha1.InSync).Message).To(ContainSubstring(c.says))
			if c.reason == ReasonInSync || c.reason == ReasonDrift {
				w.Expect(b.Status.Probed.Time.Time).To(BeTemporally(">", time.Now().Add(-time.Minute)), "it was probed after the work")
			}
			if c.reason == ReasonDrift {
				w.Until(v1alpha1.Ready, metav1.ConditionFalse, ReasonDrift)
			}
			for request, n := range w.Sim.Counts() {
				w.Expect(strings.HasPrefix(request, "GET ") || strings.Contains(request, "/Sessions")).To(BeTrue(), "%d times %s: nothing is done to the machine", n, request)
			}
		})
	}
}

// TestInSyncFollows: a drift ends when both show what was asked for, and nothing is
// said where nothing was asked for.
func TestInSyncFollows(t *testing.T) {
	w := newWorld(t, profile("DenseConfig"))
	w.ahead.Store(int64(-time.Hour))
	w.registering()
	w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	w.ahead.Store(0)
	w.phase(metal3.StateAvailable, metav1.ConditionFalse)
	w.Consistently(func() *metav1.Condition {
		b := w.BMC()
		return meta.FindStatusCondition(b.Status.Conditions, v1alpha1.InSync)
	}).WithTimeout(300 * time.Millisecond).Should(BeNil())
	w.settings("DenseConfig", "Custom")
	w.Until(v1alpha1.InSync, metav1.ConditionFalse, ReasonDrift)
	w.showSetting("DenseConfig")
	w.Until(v1alpha1.InSync, metav1.ConditionTrue, ReasonInSync)
	asked := w.Sim.Total("")
	w.Host(func(h *metal3.BareMetalHost) { h.Spec.Description = "rack 7" })
	w.Consistently(func() int { return w.Sim.Total("") }).WithTimeout(300*time.Millisecond).Should(Equal(asked), "what was compared is not read again")
	w.Host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"ironflow.io/probe": "now"} })
	w.Eventually(func() int { return w.Sim.Total("") }).WithTimeout(time.Minute).Should(BeNumerically(">", asked), "another report is compared")
}
