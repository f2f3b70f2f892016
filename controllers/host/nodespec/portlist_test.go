package nodespec

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

func TestPortsOfAHost(t *testing.T) {
	const boot, other = "52:54:00:00:00:01", "52:54:00:00:00:02"
	nics := func(list ...metal3.NIC) *metal3.HardwareDetails { return &metal3.HardwareDetails{NIC: list} }
	for name, c := range map[string]struct {
		boot     string
		hardware *metal3.HardwareDetails
		want     []ironic.Port
	}{
		"nothing known":                 {want: nil},
		"the one that it boots from":    {boot: strings.ToUpper(boot), want: []ironic.Port{{MAC: boot, PXEEnabled: true}}},
		"those that inspection found":   {boot: boot, hardware: nics(metal3.NIC{MAC: boot}, metal3.NIC{MAC: other}), want: []ironic.Port{{MAC: boot, PXEEnabled: true}, {MAC: other}}},
		"one that the machine may boot": {hardware: nics(metal3.NIC{MAC: other, PXE: true}), want: []ironic.Port{{MAC: other, PXEEnabled: true}}},
		"one that it booted from once":  {boot: boot, hardware: nics(metal3.NIC{MAC: other, PXE: true}), want: []ironic.Port{{MAC: boot, PXEEnabled: true}, {MAC: other}}},
		"two addresses of one NIC":      {hardware: nics(metal3.NIC{MAC: other, IP: "192.0.2.1"}, metal3.NIC{MAC: other, IP: "fd00::1"}), want: []ironic.Port{{MAC: other}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &metal3.BareMetalHost{Spec: metal3.BareMetalHostSpec{BootMACAddress: c.boot}}
			NewWithT(t).Expect(Ports(h, c.hardware)).To(Equal(c.want))
		})
	}
}
