package nodespec

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
)

func TestCapabilities(t *testing.T) {
	g := NewWithT(t)
	g.Expect(capabilities("", metal3.UEFI)).To(Equal("boot_mode:uefi"))
	g.Expect(capabilities("disk_label:gpt, boot_mode:bios", metal3.UEFISecureBoot)).To(Equal("disk_label:gpt,boot_mode:uefi,secure_boot:true"))
	g.Expect(capabilities("secure_boot:true", metal3.Legacy)).To(Equal("boot_mode:bios"))
}
