package nodespec

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
)

func TestHintMap(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		hints metal3.RootDeviceHints
		want  map[string]any
	}{
		"none":    {metal3.RootDeviceHints{}, map[string]any{}},
		"name":    {metal3.RootDeviceHints{DeviceName: "/dev/sda"}, map[string]any{"name": "s== /dev/sda"}},
		"by path": {metal3.RootDeviceHints{DeviceName: "/dev/disk/by-path/pci-1"}, map[string]any{"by_path": "s== /dev/disk/by-path/pci-1"}},
		"all others": {metal3.RootDeviceHints{
			HCTL: "0:0:0:0", Model: "M", Vendor: "V", SerialNumber: "S", MinSizeGigabytes: 40,
			WWN: "w", WWNWithExtension: "we", WWNVendorExtension: "wv", Rotational: &no,
		}, map[string]any{
			"hctl": "s== 0:0:0:0", "model": "<in> M", "vendor": "<in> V", "serial": "s== S", "size": ">= 40", "wwn": "s== w",
			"wwn_with_extension": "s== we", "wwn_vendor_extension": "s== wv", "rotational": "false",
		}},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(HintMap(&c.hints)).To(Equal(c.want)) })
	}
}

// TestHintsOfHardwareProfiles: profiles are deprecated, and still say which disk it is
// where nobody else does.
func TestHintsOfHardwareProfiles(t *testing.T) {
	for name, c := range map[string]struct {
		given func(*metal3.BareMetalHost)
		want  *metal3.RootDeviceHints
	}{
		"unknown":        {func(*metal3.BareMetalHost) {}, &metal3.RootDeviceHints{DeviceName: "/dev/sda"}},
		"libvirt":        {func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "libvirt://192.0.2.1:6230" }, &metal3.RootDeviceHints{DeviceName: "/dev/vda"}},
		"of the spec":    {func(h *metal3.BareMetalHost) { h.Spec.HardwareProfile = "dell" }, &metal3.RootDeviceHints{HCTL: "0:0:0:0"}},
		"of the status":  {func(h *metal3.BareMetalHost) { h.Spec.HardwareProfile = "dell"; h.Status.HardwareProfile = "openstack" }, &metal3.RootDeviceHints{DeviceName: "/dev/vdb"}},
		"empty: none":    {func(h *metal3.BareMetalHost) { h.Spec.HardwareProfile = "empty" }, nil},
		"hints are said": {func(h *metal3.BareMetalHost) { h.Spec.RootDeviceHints = &metal3.RootDeviceHints{Model: "x"} }, &metal3.RootDeviceHints{Model: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &metal3.BareMetalHost{Spec: metal3.BareMetalHostSpec{BMC: metal3.BMCDetails{Address: "redfish://192.0.2.1/x"}}}
			c.given(h)
			NewWithT(t).Expect(RootHints(h)).To(Equal(c.want))
		})
	}
}

func TestRootHintsAndVolumes(t *testing.T) {
	g := NewWithT(t)
	h := &metal3.BareMetalHost{Status: metal3.BareMetalHostStatus{HardwareProfile: "unknown"}}
	profile := &metal3.RootDeviceHints{DeviceName: "/dev/sda"}
	g.Expect(RootHints(h)).To(Equal(profile))
	h.Spec.RAID, h.Status.Provisioning.RootDeviceHints = mirror, profile
	g.Expect(RootHints(h)).To(BeNil(), "the first volume is the root")
	h.Status.Provisioning.RAID = mirror
	g.Expect(RootHints(h)).To(Equal(profile), "made by baremetal-operator, with the profile's hints")
	h.Status.Provisioning.RootDeviceHints = nil
	g.Expect(RootHints(h)).To(BeNil(), "made by us")
	h.Spec.RootDeviceHints = &metal3.RootDeviceHints{Model: "x"}
	g.Expect(RootHints(h).Model).To(Equal("x"))
}

var mirror = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: "1", Name: "root"}}}
