package crash

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What the machine of each life has of its own.
var (
	settings = []map[string]any{
		{"name": "BootMode", "value": "Bios", "attribute_type": "Enumeration", "allowable_values": []any{"Bios", "Uefi"}},
		{"name": "Cores", "value": "4", "attribute_type": "Integer", "lower_bound": 1, "upper_bound": 64},
	}
	components = []map[string]any{
		{"component": "bios", "initial_version": "1", "current_version": "1", "created_at": "2026-01-01T00:00:00Z", "updated_at": nil},
		{"component": "bmc", "initial_version": "1", "current_version": "1", "created_at": "2026-01-01T00:00:00Z", "updated_at": nil},
	}
)

// Addresses of images and updates.
const (
	firstImage  = "http://images.test/first.qcow2"
	secondImage = "http://images.test/second.qcow2"
	liveISO     = "http://images.test/live-system.iso"
	userData    = "#!/bin/true\n"
	firstFlash  = "http://images.test/bios-2"
	secondFlash = "http://images.test/bios-3"
)

// wishFirmware makes the resources that ask for settings and updates.
func wishFirmware(cores int32, flash ...string) func(*life) {
	return func(l *life) {
		meta := metav1.ObjectMeta{Namespace: l.namespace, Name: hostName}
		s := &metal3.HostFirmwareSettings{ObjectMeta: meta, Spec: metal3.HostFirmwareSettingsSpec{Settings: metal3.DesiredSettingsMap{}}}
		if cores > 0 {
			s.Spec.Settings["Cores"] = intstr.FromInt32(cores)
		}
		c := &metal3.HostFirmwareComponents{ObjectMeta: meta}
		c.Spec.Updates = updates(flash...)
		for _, object := range []client.Object{s, c} {
			NewWithT(l.t).Expect(l.kube.Create(l.t.Context(), object)).To(Succeed())
		}
	}
}

// updates flash the BIOS with some files.
func updates(urls ...string) []metal3.FirmwareUpdate {
	list := []metal3.FirmwareUpdate{}
	for _, url := range urls {
		list = append(list, metal3.FirmwareUpdate{Component: "bios", URL: url})
	}
	return list
}

// wishUpdate asks for another file.
func wishUpdate(url string) func(*life) {
	return func(l *life) {
		c := &metal3.HostFirmwareComponents{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: hostName}}
		change(l, c, func() { c.Spec.Updates = updates(url) })
	}
}

// wishCores asks for a BIOS setting.
func wishCores(n int32) func(*life) {
	return func(l *life) {
		s := &metal3.HostFirmwareSettings{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: hostName}}
		change(l, s, func() { s.Spec.Settings = metal3.DesiredSettingsMap{"Cores": intstr.FromInt32(n)} })
	}
}

// change reads an object, and patches it.
func change(l *life, object client.Object, edit func()) {
	g := NewWithT(l.t)
	g.Expect(l.kube.Get(l.t.Context(), client.ObjectKeyFromObject(object), object)).To(Succeed())
	before, _ := object.DeepCopyObject().(client.Object)
	edit()
	g.Expect(l.kube.Patch(l.t.Context(), object, client.MergeFrom(before))).To(Succeed())
}

// allowService lets the firmware of a host in use be changed at reboots.
func allowService(l *life) {
	NewWithT(l.t).Expect(l.kube.Create(l.t.Context(), &metal3.HostUpdatePolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: hostName},
		Spec:       metal3.HostUpdatePolicySpec{FirmwareSettings: metal3.HostUpdatePolicyOnReboot, FirmwareUpdates: metal3.HostUpdatePolicyOnReboot},
	})).To(Succeed())
}

// driveNames are the Secrets of a config drive, and what is in them.
var driveNames = map[string]map[string]string{
	"user-data":    {"userData": userData},
	"network-data": {"networkData": `{"links": [], "networks": [], "services": []}`},
	"meta-data":    {"metaData": "rack: r1\n"},
}

// makeDrive makes them.
func makeDrive(l *life) {
	for name, content := range driveNames {
		NewWithT(l.t).Expect(l.kube.Create(l.t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}, StringData: content,
		})).To(Succeed())
	}
}

// image has a host run an image with a config drive.
func image(url string) func(*metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) {
		h.Spec.InspectionMode = metal3.InspectionModeDisabled
		h.Spec.Image = &metal3.Image{URL: url, Checksum: "d41d8cd98f00b204e9800998ecf8427e", ChecksumType: metal3.MD5}
		h.Spec.UserData = &corev1.SecretReference{Name: "user-data"}
		h.Spec.NetworkData = &corev1.SecretReference{Name: "network-data"}
		h.Spec.MetaData = &corev1.SecretReference{Name: "meta-data"}
	}
}

// live has a host run a live system.
func live(h *metal3.BareMetalHost) {
	h.Spec.Image = &metal3.Image{URL: liveISO, DiskFormat: new("live-iso")}
}

// uninspectedIdle is a host that is not inspected, and that nothing is wished for.
func uninspectedIdle(h *metal3.BareMetalHost) { h.Spec.InspectionMode = metal3.InspectionModeDisabled }

// mirrored asks for a volume, unmirrored for none.
func mirrored(h *metal3.BareMetalHost) {
	uninspectedIdle(h)
	h.Spec.RAID = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: "1", Name: "root"}}}
}

func unmirrored(h *metal3.BareMetalHost) {
	h.Spec.RAID = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{}}
}

// neverOff is a host that must not be switched off.
func neverOff(h *metal3.BareMetalHost) {
	uninspected(h)
	h.Spec.DisablePowerOff = true
}
