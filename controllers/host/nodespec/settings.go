package nodespec

import (
	"cmp"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
)

// LiveImageURLs are where a live image comes from that is not built per host.
type LiveImageURLs struct {
	ISO, Kernel, Ramdisk string
}

// LiveImageFor is the live image of hosts of an architecture.
func (s Settings) LiveImageFor(architecture string) LiveImageURLs {
	own := s.ByArchitecture[architecture]
	return LiveImageURLs{
		ISO: cmp.Or(own.ISO, s.DeployISO), Kernel: cmp.Or(own.Kernel, s.DeployKernel), Ramdisk: cmp.Or(own.Ramdisk, s.DeployRamdisk),
	}
}

// LiveISO is the address of the live ISO that a host boots where its BMC takes one;
// empty where one is built for the host, and where Ironic's own configuration decides.
func (s Settings) LiveISO(h *metal3.BareMetalHost) string {
	if s.BuildImages {
		return ""
	}
	return s.LiveImageFor(architecture(Input{Host: h, Settings: s})).ISO
}

// Settings are the flags that the fields of nodes depend on.
type Settings struct {
	// BuildImages asks for a PreprovisioningImage per host. Without it the
	// addresses below, or Ironic's own configuration, give the live image.
	BuildImages bool
	// DeployISO, DeployKernel and DeployRamdisk are the live image of all hosts
	// when none is built per host.
	DeployISO, DeployKernel, DeployRamdisk string
	// ByArchitecture are live images of single architectures ("x86_64", "aarch64"); what
	// is empty there is as for all.
	ByArchitecture map[string]LiveImageURLs
	// Architecture is used for hosts that were not inspected: "x86_64" or "aarch64".
	Architecture string
	// DirectDeployPersistentBoot and LiveISOPersistentBoot are driver_info's
	// force_persistent_boot_device: Default, Always or Never.
	DirectDeployPersistentBoot, LiveISOPersistentBoot string
	// ExternalURLv6 is the address of Ironic's own image server for BMCs with an IPv6
	// address; empty leaves it to Ironic.
	ExternalURLv6 string
}
