package nodespec

import (
	"fmt"
	"strconv"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1/profile"
	"k8s.io/apimachinery/pkg/api/equality"
)

// byPathPrefix marks device names that Ironic matches as by_path.
const byPathPrefix = "/dev/disk/by-path/"

// RootHints are the hints that apply: the spec's, else the first RAID volume by
// itself (no hints), else those of the hardware profile. Volumes that were made
// with the profile's hints, as baremetal-operator does, keep them. Nil means
// that the deployment picks the disk itself.
func RootHints(h *metal3.BareMetalHost) *metal3.RootDeviceHints {
	if h.Spec.RootDeviceHints != nil {
		return h.Spec.RootDeviceHints.DeepCopy()
	}
	hints := profileHints(h)
	made := &h.Status.Provisioning
	if hasVolumes(h.Spec.RAID) && (!SameRAID(h.Spec.RAID, made.RAID) || !equality.Semantic.DeepEqual(hints, made.RootDeviceHints)) {
		return nil
	}
	return hints
}

// profileHints are the hints of the host's hardware profile.
func profileHints(h *metal3.BareMetalHost) *metal3.RootDeviceHints {
	p, err := profile.GetProfile(HardwareProfile(h))
	if err != nil {
		p, err = profile.GetProfile(profile.DefaultProfileName)
	}
	if err != nil || p.RootDeviceHints == (metal3.RootDeviceHints{}) {
		return nil
	}
	return p.RootDeviceHints.DeepCopy()
}

// HardwareProfile is the deprecated profile's name: it only gives root hints.
func HardwareProfile(h *metal3.BareMetalHost) string {
	switch {
	case h.Status.HardwareProfile != "":
		return h.Status.HardwareProfile
	case h.Spec.HardwareProfile != "":
		return h.Spec.HardwareProfile
	case strings.HasPrefix(h.Spec.BMC.Address, "libvirt"):
		return "libvirt"
	}
	return profile.DefaultProfileName
}

// HintMap is Ironic's form of root device hints, with its comparison operators.
func HintMap(h *metal3.RootDeviceHints) map[string]any {
	hints := map[string]any{}
	if h == nil {
		return hints
	}
	equal := func(key, value string) {
		if value != "" {
			hints[key] = "s== " + value
		}
	}
	contains := func(key, value string) {
		if value != "" {
			hints[key] = "<in> " + value
		}
	}
	if strings.HasPrefix(h.DeviceName, byPathPrefix) {
		equal("by_path", h.DeviceName)
	} else {
		equal("name", h.DeviceName)
	}
	equal("hctl", h.HCTL)
	contains("model", h.Model)
	contains("vendor", h.Vendor)
	equal("serial", h.SerialNumber)
	if h.MinSizeGigabytes > 0 {
		hints["size"] = fmt.Sprintf(">= %d", h.MinSizeGigabytes)
	}
	equal("wwn", h.WWN)
	equal("wwn_with_extension", h.WWNWithExtension)
	equal("wwn_vendor_extension", h.WWNVendorExtension)
	if h.Rotational != nil {
		hints["rotational"] = strconv.FormatBool(*h.Rotational)
	}
	return hints
}

// SameRAID compares two configurations. An empty list of hardware volumes asks
// to delete them all, so it is not the same as none.
func SameRAID(a, b *metal3.RAIDConfig) bool {
	if a == nil {
		a = &metal3.RAIDConfig{}
	}
	if b == nil {
		b = &metal3.RAIDConfig{}
	}
	return (a.HardwareRAIDVolumes == nil) == (b.HardwareRAIDVolumes == nil) && equality.Semantic.DeepEqual(a, b)
}

// hasVolumes reports whether a configuration asks for any volume.
func hasVolumes(r *metal3.RAIDConfig) bool {
	return r != nil && len(r.HardwareRAIDVolumes)+len(r.SoftwareRAIDVolumes) > 0
}
