package generate

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"

	"github.com/ironflow/ironflow/agent/scenario"
)

// model is one product that machines are drawn from.
type model struct {
	manufacturer, product string
	cpu                   string
	mhz                   float64
	cores                 []int
	memoryGiB             []int64
	nicVendor, nicProduct string
}

// models are of one architecture, as the images of a fleet are, and large enough
// for every role of a cluster: 8 processors, 32 GiB.
var models = []model{
	{"Tailwind", "R650", "Xenia Gold 6338", 2000, []int{32, 64, 128}, []int64{128, 256, 512}, "0x8086", "0x1592"},
	{"Tailwind", "R350", "Xenia E-2378", 2600, []int{8, 16}, []int64{32, 64}, "0x14e4", "0x165f"},
	{"Northgate", "ProBox 360", "Epoch 7543P", 2800, []int{32, 64}, []int64{64, 128, 256}, "0x15b3", "0x1017"},
	{"Harbor Systems", "Edge 2", "Xenia D-1541", 2100, []int{8, 16}, []int64{32, 64}, "0x8086", "0x1563"},
}

// flags are what the validations of the hub and its operators look for.
var flags = []string{"fpu", "vme", "sse4_2", "ssse3", "aes", "vmx", "lm", "avx2"}

func (m maker) hardware() scenario.Hardware {
	kind := pick(m, models...)
	serial := m.serial("SN", 8)
	return scenario.Hardware{
		System: scenario.System{
			Manufacturer: kind.manufacturer, Product: kind.product, Serial: serial,
			BoardSerial: m.serial("MB", 10), UUID: m.id.String(),
		},
		CPU: scenario.CPU{
			Architecture: "x86_64", Model: kind.cpu, MHz: kind.mhz, Count: pick(m, kind.cores...), Flags: flags,
		},
		MemoryMiB: pick(m, kind.memoryGiB...) << 10,
		BootMode:  "uefi",
		NICs:      m.nics(kind),
		Disks:     m.disks(),
	}
}

// serial draws a serial number that ends in the index, which makes it unique.
func (m maker) serial(prefix string, n int) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	var b strings.Builder
	b.WriteString(prefix)
	for range n {
		b.WriteByte(letters[m.IntN(len(letters))])
	}
	return fmt.Sprintf("%s%05d", b.String(), m.index)
}

// nics draws two to four interfaces; the first has the address and the route.
func (m maker) nics(kind model) []scenario.NIC {
	speed := pick(m, 1000, 10000, 25000)
	names := pick(m, []string{"eno1", "eno2", "ens1f0", "ens1f1"}, []string{"enp1s0f0", "enp1s0f1", "enp3s0", "enp4s0"})
	out := make([]scenario.NIC, 2+m.IntN(3))
	for i := range out {
		out[i] = scenario.NIC{
			Name: names[i], MAC: m.mac(i), SpeedMbps: speed, MTU: 1500, Vendor: kind.nicVendor, Product: kind.nicProduct,
		}
		if i > 1 {
			unplugged := false
			out[i].Carrier = &unplugged
		}
	}
	out[0].IPv4 = []string{m.address()}
	out[0].Gateway = network.Addr().Next().String()
	return out
}

// mac is locally administered, and unique over fleets by the machine's id.
func (m maker) mac(i int) string {
	mac := net.HardwareAddr{0x52, 0x54, m.id[0], byte(m.index >> 8), byte(m.index), byte(i)}
	return mac.String()
}

func (m maker) address() string {
	raw := network.Addr().As4()
	binary.BigEndian.PutUint32(raw[:], binary.BigEndian.Uint32(raw[:])+uint32(firstHost+m.index))
	return fmt.Sprintf("%d.%d.%d.%d/%d", raw[0], raw[1], raw[2], raw[3], network.Bits())
}

// disks draws one to four disks; at least one is large and fast enough to
// install to.
func (m maker) disks() []scenario.Disk {
	var out []scenario.Disk
	if m.IntN(2) == 0 {
		out = append(out, m.disk("nvme0n1", "NVME", pick[int64](m, 240, 480, 960)))
	} else {
		out = append(out, m.disk("sda", "SSD", pick[int64](m, 240, 480)))
	}
	for i := range m.IntN(4) {
		out = append(out, m.disk("sd"+string(rune('b'+i)), pick(m, "HDD", "SSD"), pick[int64](m, 960, 1920, 4000)))
	}
	return out
}

func (m maker) disk(name, kind string, sizeGiB int64) scenario.Disk {
	d := scenario.Disk{
		Name: name, Type: kind, SizeGiB: sizeGiB, Vendor: pick(m, "Granite", "Kestrel"),
		Serial: m.serial("D", 9), WWN: fmt.Sprintf("0x5000%012x", m.Uint64()>>16),
	}
	d.Model = fmt.Sprintf("%s %s %dG", d.Vendor, kind, sizeGiB)
	if kind == "NVME" {
		d.ByPath = "pci-0000:01:00.0-nvme-1"
		return d
	}
	port := int(name[2] - 'a')
	d.HCTL = fmt.Sprintf("0:0:%d:0", port)
	d.ByPath = fmt.Sprintf("pci-0000:00:1f.2-ata-%d", port+1)
	return d
}
