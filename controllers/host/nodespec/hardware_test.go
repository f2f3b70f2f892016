package nodespec

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

func TestHardwareDetails(t *testing.T) {
	g := NewWithT(t)
	h := HardwareDetails(&ironic.Inventory{
		Hostname: "a", MemoryMiB: 4096, System: ironic.SystemInfo{Manufacturer: "ACME", FirmwareDay: "1/1/2026"},
		CPU: ironic.CPUInfo{Architecture: "x86_64", Count: 4, MHz: 2399.6, Flags: []string{"vmx", "aes"}},
		NICs: []ironic.NICInfo{
			{
				Name: "eth0", MAC: "52:54:00:00:00:01", IPv4: "192.0.2.1", IPv6: "2001:db8::1", Vendor: "0x1", Product: "0x2",
				SpeedMbps: 25000, PXE: true, LLDP: ironic.LLDPInfo{ChassisID: "c", PortID: "p", UntaggedVLAN: 7, VLANs: []ironic.VLANInfo{{ID: 8, Name: "x"}}},
			},
			{Name: "eth1", MAC: "52:54:00:00:00:02"},
		},
		Disks: []ironic.DiskInfo{{Name: "/dev/sda", ByPath: "/dev/disk/by-path/1", Rotational: true, SizeBytes: 10}, {Name: "/dev/nvme0n1"}, {Name: "/dev/sdb"}},
	})
	g.Expect(h.CPU.ClockMegahertz).To(BeEquivalentTo(2400))
	g.Expect(h.CPU.Flags).To(Equal([]string{"aes", "vmx"}))
	g.Expect(h.NIC).To(HaveLen(3), "one entry per address")
	g.Expect(h.NIC[0]).To(And(HaveField("IP", "192.0.2.1"), HaveField("Model", "0x1 0x2"), HaveField("SpeedGbps", 25), HaveField("PXE", true),
		HaveField("VLANID", metal3.VLANID(7)), HaveField("VLANs", []metal3.VLAN{{ID: 8, Name: "x"}})))
	g.Expect(h.NIC[1].IP).To(Equal("2001:db8::1"))
	g.Expect(h.NIC[2].LLDP).To(BeNil())
	g.Expect(h.Storage[0]).To(And(HaveField("Name", "/dev/disk/by-path/1"), HaveField("Type", metal3.HDD),
		HaveField("AlternateNames", []string{"/dev/sda", "/dev/disk/by-path/1"})))
	g.Expect(h.Storage[1].Type).To(Equal(metal3.NVME))
	g.Expect(h.Storage[2].Type).To(Equal(metal3.SSD))
}
