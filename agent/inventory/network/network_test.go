package network

import (
	"net/netip"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/inventory/smbios"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// kernel is a network stack.
type kernel struct {
	source.Kernel
	hostname string
	network  source.Network
	burnt    map[string]string
}

func (k kernel) Uname() (source.Uname, error)     { return source.Uname{Nodename: k.hostname}, nil }
func (k kernel) Network() (source.Network, error) { return k.network, nil }
func (k kernel) PermanentMAC(nic string) (string, error) {
	if mac := k.burnt[nic]; mac != "" {
		return mac, nil
	}
	return "", source.ErrNoAnswer
}

// link is a link in sysfs.
func link(target string) *fstest.MapFile {
	return &fstest.MapFile{Mode: 0o777 | 1<<27, Data: []byte(target)}
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }

var (
	prefix = netip.MustParsePrefix
	addr   = netip.MustParseAddr
)

func TestInterfaces(t *testing.T) {
	g := NewWithT(t)
	files := fstest.MapFS{
		"sys/class/net/lo":    link("../../devices/virtual/net/lo"),
		"sys/class/net/bond0": link("../../devices/virtual/net/bond0"),
		"sys/class/net/eno1":  link("../../devices/pci0000:00/0000:00:1c.0/net/eno1"),
		"sys/class/net/eno2":  link("../../devices/pci0000:00/0000:00:1d.0/net/eno2"),
		"sys/class/net/eno3":  link("../../devices/pci0000:00/0000:00:1e.0/net/eno3"),
		"sys/devices/pci0000:00/0000:00:1c.0/net/eno1/speed":                     file("10000"),
		"sys/devices/pci0000:00/0000:00:1c.0/net/eno1/device":                    link("../../../0000:00:1c.0"),
		"sys/devices/pci0000:00/0000:00:1c.0/vendor":                             file("0x8086"),
		"sys/devices/pci0000:00/0000:00:1c.0/device":                             file("0x1563"),
		"sys/devices/pci0000:00/0000:00:1d.0/net/eno2/speed":                     file("-1"),
		"sys/devices/pci0000:00/0000:00:1d.0/net/eno2/bonding_slave/perm_hwaddr": file("52:54:00:00:00:02"),
	}
	found, err := Read(source.Machine{Files: files, Kernel: kernel{hostname: "node\n", burnt: map[string]string{"eno3": "52:54:00:00:00:03"}, network: source.Network{
		Links: []source.Link{
			{Index: 1, Name: "lo", MAC: "00:00:00:00:00:00", MTU: 65536, Flags: []string{"up", "loopback"}, Carrier: true, Addresses: []netip.Prefix{prefix("127.0.0.1/8"), prefix("::1/128")}},
			{Index: 5, Name: "bond0", Kind: "bond", MAC: "52:54:00:00:00:01", MTU: 9000, Flags: []string{"up"}, Carrier: true, Addresses: []netip.Prefix{
				prefix("192.0.2.7/24"), prefix("169.254.1.1/16"), prefix("fe80::1/64"), prefix("2001:db8::7/128"), prefix("2001:db8:9::7/128"), prefix("2001:db8:1::7/64"),
			}},
			{Index: 2, Name: "eno1", MAC: "52:54:00:00:00:01", PermanentMAC: "52:54:00:00:00:01", Member: "bond", MTU: 9000, Carrier: true},
			{Index: 3, Name: "eno2", MAC: "52:54:00:00:00:01", Member: "bond"},
			{Index: 4, Name: "eno3", MAC: "52:54:00:00:00:01", Member: "bond"},
		},
		Routes: []source.Route{
			{Destination: prefix("0.0.0.0/0"), Gateway: addr("192.0.2.1"), Link: 5, Metric: 100},
			{Destination: prefix("192.0.2.0/24"), Link: 5},
			{Destination: prefix("2001:db8::/64"), Link: 2, Advertised: true},
			{Destination: prefix("2001:db8::/56"), Link: 5},
			{Destination: prefix("2001:db8::/60"), Link: 5, Advertised: true},
			{Destination: prefix("::/0"), Gateway: addr("fe80::1"), Link: 5, Metric: 1024, Advertised: true},
			{Destination: prefix("198.51.100.0/24"), Link: 77},
		},
	}}}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	none := []string{}
	g.Expect(found).To(Equal(Found{
		Hostname: "node",
		Interfaces: []wire.Interface{
			{
				Name: "bond0", Type: "bond", MACAddress: "52:54:00:00:00:01", MTU: 9000, Flags: []string{"up"}, HasCarrier: true, Ipv4Addresses: []string{"192.0.2.7/24"},
				Ipv6Addresses: []string{"2001:db8::7/60", "2001:db8:9::7/128", "2001:db8:1::7/64"},
			},
			{
				Name: "eno1", Type: "physical", MACAddress: "52:54:00:00:00:01", MTU: 9000, HasCarrier: true, SpeedMbps: 10000, Vendor: "0x8086", Product: "0x1563",
				Flags: none, Ipv4Addresses: none, Ipv6Addresses: none,
			},
			{Name: "eno2", Type: "physical", MACAddress: "52:54:00:00:00:02", SpeedMbps: -1, Flags: none, Ipv4Addresses: none, Ipv6Addresses: none},
			{Name: "eno3", Type: "physical", MACAddress: "52:54:00:00:00:03", Flags: none, Ipv4Addresses: none, Ipv6Addresses: none},
			{Name: "lo", Type: "device", MTU: 65536, Flags: []string{"up", "loopback"}, HasCarrier: true, Ipv4Addresses: []string{"127.0.0.1/8"}, Ipv6Addresses: []string{"::1/128"}},
		},
		Routes: []wire.Route{
			{Destination: "0.0.0.0", Gateway: "192.0.2.1", Interface: "bond0", Metric: 100, Family: 2},
			{Destination: "192.0.2.0", Interface: "bond0", Family: 2},
			{Destination: "2001:db8::", Interface: "eno1", Family: 10},
			{Destination: "2001:db8::", Interface: "bond0", Family: 10},
			{Destination: "2001:db8::", Interface: "bond0", Family: 10},
			{Destination: "::", Gateway: "fe80::1", Interface: "bond0", Metric: 1024, Family: 10},
		},
	}))
}

func TestHostname(t *testing.T) {
	nics := []wire.Interface{
		{Name: "a", Type: "bridge", MACAddress: "aa:00:00:00:00:01", Ipv4Addresses: []string{"192.0.2.1/24"}},
		{Name: "b", Type: "physical", MACAddress: "aa:00:00:00:00:02"},
		{Name: "c", Type: "vlan", MACAddress: "aa:00:00:00:00:03", Ipv6Addresses: []string{"2001:db8::1/64"}},
		{Name: "d", Type: "physical", MACAddress: "aa:00:00:00:00:04", Ipv4Addresses: []string{"192.0.2.1/24"}},
	}
	for name, want := range map[string]string{
		"node-1": "node-1", "localhost": "aa-00-00-00-00-03", "localhost.localdomain": "aa-00-00-00-00-03", "localhost4": "aa-00-00-00-00-03",
		"localhost6.localdomain6": "aa-00-00-00-00-03", "localhost5": "localhost5", "mylocalhost": "mylocalhost",
	} {
		NewWithT(t).Expect(hostname(name, nics)).To(Equal(want), name)
	}
	NewWithT(t).Expect(hostname("localhost", nics[:2])).To(Equal("localhost"), "nothing better is known")
}

// cardTable is an SMBIOS table: the board has one interface at 00:1c.0, slot 3
// holds a card at 5e:00, and the BIOS belongs to a bare machine.
func cardTable(virtual byte) smbios.Table {
	bios := append([]byte{0, 0x14, 0, 0}, make([]byte, 0x10)...)
	bios[0x13] = virtual
	onboard := []byte{41, 11, 0, 0, 1, 0x85, 1, 0, 0, 0, 0xe0, 'N', 'I', 'C', 0, 0}
	slot := append([]byte{9, 0x11, 0, 0}, make([]byte, 0x0d)...)
	slot[0x09], slot[0x0f], slot[0x10] = 3, 0x5e, 0x00
	return smbios.Parse(append(append(append(bios, 0, 0), onboard...), append(slot, 0, 0)...))
}

func TestBIOSNames(t *testing.T) {
	files := fstest.MapFS{
		"sys/class/net/eth0":               link("../../devices/pci0000:00/0000:00:1c.0/net/eth0"),
		"sys/class/net/eth1":               link("../../devices/pci0000:5d/0000:5d:00.0/0000:5e:00.0/net/eth1"),
		"sys/class/net/eth2":               link("../../devices/pci0000:5d/0000:5d:00.0/0000:5e:00.1/net/eth2"),
		"sys/class/net/eth3":               link("../../devices/pci0000:5d/0000:5d:00.0/0000:5e:02.0/net/eth3"),
		"sys/class/net/lo":                 link("../../devices/virtual/net/lo"),
		"sys/bus/pci/devices/0000:5e:02.0": link("../../../devices/pci0000:5d/0000:5d:00.0/0000:5e:02.0"),
		"sys/devices/pci0000:5d/0000:5d:00.0/0000:5e:02.0/physfn/x": file(""),
	}
	g := NewWithT(t)
	m := source.Machine{Files: files}
	g.Expect(biosNames(m, cardTable(0))).To(Equal(map[string]string{"0000:00:1c.0": "em1", "0000:5e:00.0": "p3p1", "0000:5e:00.1": "p3p2"}))
	g.Expect(biosNames(m, cardTable(0x10))).To(BeEmpty(), "a virtual machine")
	g.Expect(biosNames(m, nil)).To(BeEmpty(), "no SMBIOS")
}
