package nodespec

import (
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

func TestPortsOfAHost(t *testing.T) {
	const boot, other = "52:54:00:00:00:01", "52:54:00:00:00:02"
	nics := func(list ...metal3.NIC) *metal3.HardwareDetails { return &metal3.HardwareDetails{NIC: list} }
	for name, c := range map[string]struct {
		boot     string
		hardware *metal3.HardwareDetails
		shared   []string
		want     []ironic.Port
	}{
		"nothing known":                 {want: nil},
		"the one that it boots from":    {boot: strings.ToUpper(boot), want: []ironic.Port{{MAC: boot, PXEEnabled: true}}},
		"those that inspection found":   {boot: boot, hardware: nics(metal3.NIC{MAC: boot}, metal3.NIC{MAC: other}), want: []ironic.Port{{MAC: boot, PXEEnabled: true}, {MAC: other, Optional: true}}},
		"one that the machine may boot": {hardware: nics(metal3.NIC{MAC: other, PXE: true}), want: []ironic.Port{{MAC: other, PXEEnabled: true, Optional: true}}},
		"one that it booted from once":  {boot: boot, hardware: nics(metal3.NIC{MAC: other, PXE: true}), want: []ironic.Port{{MAC: boot, PXEEnabled: true}, {MAC: other, Optional: true}}},
		"addresses that are none": {boot: boot, hardware: nics(
			metal3.NIC{MAC: "00:00:00:00:00:00"}, metal3.NIC{MAC: ""}, metal3.NIC{MAC: "a0:00:02:20:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:50:e0:21"},
			metal3.NIC{MAC: "01:00:5e:00:00:01"}, metal3.NIC{MAC: "no address"}, metal3.NIC{MAC: other},
		), want: []ironic.Port{{MAC: boot, PXEEnabled: true}, {MAC: other, Optional: true}}},
		"a card that is no PCI device": {
			boot:     boot,
			hardware: nics(metal3.NIC{MAC: boot, PCIAddress: "0000:01:00.0"}, metal3.NIC{MAC: other}),
			want:     []ironic.Port{{MAC: boot, PXEEnabled: true}},
		},
		"the one that it boots from is no PCI device": {
			boot:     boot,
			hardware: nics(metal3.NIC{MAC: boot}, metal3.NIC{MAC: other, PCIAddress: "0000:01:00.0"}),
			want:     []ironic.Port{{MAC: boot, PXEEnabled: true}, {MAC: other, Optional: true}},
		},
		"one that other machines have as well": {boot: boot, hardware: nics(metal3.NIC{MAC: other}), shared: []string{other}, want: []ironic.Port{{MAC: boot, PXEEnabled: true}}},
		"two addresses of one NIC":             {hardware: nics(metal3.NIC{MAC: other, IP: "192.0.2.1"}, metal3.NIC{MAC: other, IP: "fd00::1"}), want: []ironic.Port{{MAC: other, Optional: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &metal3.BareMetalHost{Spec: metal3.BareMetalHostSpec{BootMACAddress: c.boot}}
			NewWithT(t).Expect(Ports(h, c.hardware, c.shared)).To(Equal(c.want))
		})
	}
}
