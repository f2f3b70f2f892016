package wishes_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/wishes"
)

// read reads an object as a file has it.
func read[T any](t *testing.T, text string) *T {
	t.Helper()
	var o T
	if err := yaml.UnmarshalStrict([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return &o
}

const host = `
metadata: {name: node-1}
spec:
  online: true
  architecture: x86_64
  bootMode: UEFISecureBoot
  bmc: {address: "idrac-virtualmedia+https://192.0.2.1/redfish/v1/Systems/1", credentialsName: x}
  image: {url: "https://192.0.2.9/live.iso?a=b", format: live-iso}
  firmware: {sriovEnabled: false}
  raid:
    hardwareRAIDVolumes:
    - {level: "5", sizeGibibytes: 100, numberOfPhysicalDisks: 4, rotational: true, name: data}
    - {level: "1", controller: RAID.1, physicalDisks: [a, b]}
`

func TestFromObjects(t *testing.T) {
	g := NewWithT(t)
	got, err := wishes.FromObjects(
		read[metal3.HostFirmwareSettings](t, `{metadata: {name: node-1}, spec: {settings: {Cores: 8, Turbo: "On", Free: "3"}}}`),
		&corev1.Secret{},
		read[metal3.BareMetalHost](t, host),
		read[metal3.HostFirmwareComponents](t, `{metadata: {name: node-1}, spec: {updates: [{component: bmc, url: "https://192.0.2.9/bmc"}]}}`),
		read[metal3.PreprovisioningImage](t, `{metadata: {name: node-1}, status: {imageUrl: "http://192.0.2.9/i/node-1.iso", format: iso}}`),
	)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(preflight.Wishes{
		Address:  preflight.Address{Scheme: "idrac-virtualmedia", Boot: preflight.VirtualMedia, Redfish: true},
		BootMode: "UEFISecureBoot", Architecture: "x86_64",
		LiveImage: preflight.LiveImage{Address: "http://192.0.2.9/i/node-1.iso", Scheme: "http"},
		LiveISO:   preflight.LiveImage{Address: "https://192.0.2.9/live.iso?a=b", Scheme: "https", Query: true},
		Volumes: []preflight.Volume{
			{Level: "5", SizeGiB: 100, Count: 4, Rotational: new(true), Name: "data"},
			{Level: "1", Controller: "RAID.1", Disks: []string{"a", "b"}},
		},
		Firmware: map[string]bool{"sriovEnabled": false},
		Settings: map[string]any{"Cores": 8, "Turbo": "On", "Free": "3"},
		Updates:  []preflight.Update{{Component: "bmc", URL: "https://192.0.2.9/bmc"}},
	}))
}

func TestRAIDThatIsNotSaid(t *testing.T) {
	g := NewWithT(t)
	for raid, want := range map[string][]preflight.Volume{
		"":                                  nil,
		", raid: {}":                        nil,
		", raid: {hardwareRAIDVolumes: []}": {},
	} {
		got, err := wishes.FromObjects(read[metal3.BareMetalHost](t, `{spec: {online: true, bmc: {address: "redfish://192.0.2.1", credentialsName: x}`+raid+`}}`))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Volumes == nil).To(Equal(want == nil), raid)
	}
	got, err := wishes.FromObjects(
		read[metal3.BareMetalHost](
			t,
			`{spec: {online: true, bmc: {address: "redfish://192.0.2.1", credentialsName: x}, raid: {softwareRAIDVolumes: [{level: "1", sizeGibibytes: 9, physicalDisks: [{hctl: a}, {hctl: b}]}]}}}`,
		),
	)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.SoftwareVolumes).To(Equal([]preflight.SoftwareVolume{{Level: "1", SizeGiB: 9, Disks: 2}}))
}

func TestWaysOfBooting(t *testing.T) {
	kinds := map[string]preflight.BootKind{
		"ipmi": preflight.Network, "libvirt": preflight.Network, "redfish": preflight.Network, "ilo5-redfish": preflight.Network, "idrac-redfish": preflight.Network,
		"redfish-virtualmedia": preflight.VirtualMedia, "ilo5-virtualmedia": preflight.VirtualMedia, "idrac-virtualmedia": preflight.VirtualMedia,
		"redfish-uefihttp": preflight.HTTPBoot,
	}
	for _, scheme := range address.Schemes() {
		g := NewWithT(t)
		h := &metal3.BareMetalHost{Spec: metal3.BareMetalHostSpec{BMC: metal3.BMCDetails{Address: scheme + "://192.0.2.1/redfish/v1/Systems/1"}}}
		w, err := wishes.Of(wishes.Objects{Host: h, LiveImage: "https://192.0.2.9/a.iso"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(w.Address.Boot).To(Equal(kinds[scheme]), scheme)
		g.Expect(w.Address.Redfish).To(Equal(scheme != "ipmi" && scheme != "libvirt"), scheme)
		g.Expect(w.LiveImage.Scheme).To(Equal("https"))
		g.Expect(preflight.Check(w, &v1alpha1.BMCReport{}, nil, nil)).To(BeEmpty(), scheme)
	}
}

func TestFromObjectsRefuses(t *testing.T) {
	one := read[metal3.BareMetalHost](t, host)
	other := one.DeepCopy()
	other.Name = "node-2"
	bad := one.DeepCopy()
	bad.Spec.BMC.Address = "carrier-pigeon://user:hidden@192.0.2.1"
	cases := map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"nothing":                   {nil, "there must be one BareMetalHost to check, and there are 0"},
		"two hosts":                 {[]runtime.Object{one, other}, "there are 2 (node-1, node-2)"},
		"an address of nothing":     {[]runtime.Object{bad}, `host "node-1": spec.bmc.address: Unknown BMC type`},
		"settings of somebody else": {[]runtime.Object{one, read[metal3.HostFirmwareSettings](t, `{metadata: {name: node-3}}`)}, `HostFirmwareSettings "node-3" has no BareMetalHost of that name`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := wishes.FromObjects(c.objects...)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
			NewWithT(t).Expect(err.Error()).NotTo(ContainSubstring("hidden"))
		})
	}
}

func TestByHost(t *testing.T) {
	g := NewWithT(t)
	one := read[metal3.BareMetalHost](t, host)
	other := one.DeepCopy()
	other.Name, other.Namespace = "node-2", "metal"
	settings := read[metal3.HostFirmwareSettings](t, `{metadata: {name: node-2}}`)
	all, err := wishes.ByHost(settings, one, other)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(Equal([]wishes.Objects{{Host: one}, {Host: other, Settings: settings}}), "a file may leave out the namespace")
	settings.Namespace = "elsewhere"
	_, err = wishes.ByHost(other, settings)
	g.Expect(err).To(HaveOccurred())
}

// TestVersionOfAnImage: the version of a firmware image is read off its file's name, in
// the vendors' forms; what may be something else is none.
func TestVersionOfAnImage(t *testing.T) {
	for address, want := range map[string]string{
		"https://192.0.2.9/iDRAC-with-Lifecycle-Controller_Firmware_8V9HP_WN64_6.10.30.00_A00.EXE": "6.10.30.00",
		"https://192.0.2.9/fw/BIOS_T9YP9_WN64_1.10.2.EXE":                                          "1.10.2",
		"https://192.0.2.9/BMC_X12AST2600-F201MS_20230411_01.01.20_STDsp.bin?x=9.9.9":              "01.01.20",
		"https://192.0.2.9/obmc-v2.14.0.tar.gz":                                                    "2.14.0",
		"https://192.0.2.9/2.14.0":                                                                 "2.14.0",
		"https://192.0.2.9/lnvgy_fw_xcc_tei3a8l-2.83_anyos_noarch.uxz":                             "",
		"https://192.0.2.9/ilo5_272.bin":                                                           "",
		"https://192.0.2.9/1.2.3_to_1.2.4.bin":                                                     "",
		"https://192.0.2.9/1.2.3/image.bin":                                                        "",
		"https://192.0.2.9":                                                                        "",
		"%zz":                                                                                      "",
	} {
		t.Run(address, func(t *testing.T) {
			g := NewWithT(t)
			w, err := wishes.Of(wishes.Objects{
				Host:       read[metal3.BareMetalHost](t, host),
				Components: &metal3.HostFirmwareComponents{Spec: metal3.HostFirmwareComponentsSpec{Updates: []metal3.FirmwareUpdate{{Component: "bmc", URL: address}}}},
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(w.Updates).To(Equal([]preflight.Update{{Component: "bmc", URL: address, Version: want}}))
			old := &v1alpha1.BMCReport{Firmware: []v1alpha1.FirmwareReport{{ID: "BMC", LowestSupportedVersion: "99.0"}}}
			refused := false
			for _, m := range preflight.Check(w, old, nil, nil) {
				refused = refused || m.Reason == preflight.ReasonUpdateVersion
			}
			g.Expect(refused).To(Equal(want != ""), "what is not known is not refused")
		})
	}
}

// TestSizesOfImages: what is known of an image's size is held against what the BMC takes.
func TestSizesOfImages(t *testing.T) {
	g := NewWithT(t)
	const iso, firmware, live = "https://192.0.2.9/live.iso?a=b", "https://192.0.2.9/bmc", "http://192.0.2.9/i/node-1.iso"
	o := wishes.Objects{
		Host: read[metal3.BareMetalHost](t, host), LiveImage: live,
		Components: &metal3.HostFirmwareComponents{Spec: metal3.HostFirmwareComponentsSpec{Updates: []metal3.FirmwareUpdate{{Component: "bmc", URL: firmware}, {Component: "bios", URL: firmware}}}},
	}
	g.Expect(wishes.Images(o)).To(Equal([]string{live, iso, firmware}))
	report := &v1alpha1.BMCReport{MaxImageBytes: 1 << 20, Quirks: []v1alpha1.AppliedQuirk{{ID: "site", Effect: "image-size", Value: "1024"}}}
	w, err := wishes.Of(o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(wishes.Weighed(o, w, report)).To(Equal([]string{live, iso, firmware}))
	g.Expect(wishes.Weighed(o, w, &v1alpha1.BMCReport{MaxImageBytes: 1})).To(Equal([]string{firmware}))
	g.Expect(wishes.Weighed(o, w, nil)).To(BeEmpty())
	sizes := func() (reasons []string) {
		w, err := wishes.Of(o)
		g.Expect(err).NotTo(HaveOccurred())
		for _, m := range preflight.Check(w, report, nil, nil) {
			if m.Reason == preflight.ReasonImageSize || m.Reason == preflight.ReasonUpdateSize {
				reasons = append(reasons, m.Field)
			}
		}
		return reasons
	}
	g.Expect(sizes()).To(BeEmpty(), "nothing is known of them")
	o.Sizes = map[string]int64{iso: 2 << 30, firmware: 2 << 20, live: 1 << 20}
	g.Expect(sizes()).To(Equal([]string{"spec.image.url", "spec.updates[0].url", "spec.updates[1].url"}))
}
