package smbios

import (
	"encoding/binary"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
)

// structure renders an entry of the table.
func structure(kind byte, body []byte, strings ...string) []byte {
	out := append([]byte{kind, byte(4 + len(body)), 0, 0}, body...)
	for _, s := range strings {
		out = append(append(out, s...), 0)
	}
	if len(strings) == 0 {
		out = append(out, 0)
	}
	return append(out, 0)
}

// memory is a memory device with the word at 0x0c and the extended size.
func memory(size uint16, extended uint32) []byte {
	body := make([]byte, 0x24)
	binary.LittleEndian.PutUint16(body[0x0c-4:], size)
	binary.LittleEndian.PutUint32(body[0x1c-4:], extended)
	return structure(typeMemoryDevice, body, "DIMM A1")
}

func TestInstalledMemory(t *testing.T) {
	for name, tc := range map[string]struct {
		table [][]byte
		want  int64
	}{
		"nothing":          {nil, 0},
		"MiB":              {[][]byte{memory(16384, 0), memory(16384, 0)}, 32 << 30},
		"KiB":              {[][]byte{memory(0x8000|512, 0)}, 512 << 10},
		"extended":         {[][]byte{memory(0x7fff, 65536)}, 64 << 30},
		"empty socket":     {[][]byte{memory(0, 0), memory(8192, 0)}, 8 << 30},
		"unknown":          {[][]byte{memory(0xffff, 0)}, 0},
		"old and short":    {[][]byte{structure(typeMemoryDevice, []byte{1, 2}), memory(1024, 0)}, 1 << 30},
		"end of the table": {[][]byte{memory(1024, 0), structure(typeEnd, nil), memory(1024, 0)}, 1 << 30},
		"cut":              {[][]byte{memory(1024, 0), {17, 0x28, 0}}, 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Parse(slices.Concat(tc.table...)).InstalledMemory()).To(Equal(tc.want))
		})
	}
}

func TestSlotsAndOnboardDevices(t *testing.T) {
	g := NewWithT(t)
	slot := make([]byte, 0x0d)
	slot[0x04-4], slot[0x09-4], slot[0x0f-4], slot[0x10-4] = 1, 3, 0x5e, 0x01
	empty := slices.Clone(slot)
	empty[0x0f-4], empty[0x10-4] = 0xff, 0xff
	onboard := []byte{1, 0x80 | onboardEthernet, 2, 0, 0, 0x1a, 0x08}
	off := []byte{1, onboardEthernet, 3, 0, 0, 0x1b, 0}
	bios := make([]byte, 0x14-4)
	bios[0x13-4] = 0x10
	table := Parse(slices.Concat(structure(typeBIOS, bios), structure(typeSlot, slot, "PCIe Slot 3"), structure(typeSlot, empty, "PCIe Slot 4"),
		structure(typeOnboard, onboard, "Integrated NIC"), structure(typeOnboard, off, "Off")))
	g.Expect(table.VirtualMachine()).To(BeTrue())
	g.Expect(table.Slots()).To(Equal([]Slot{{Name: "PCIe Slot 3", Number: 3, Address: PCIAddress{Bus: 0x5e, Function: 1}}}))
	g.Expect(table.OnboardEthernet()).To(Equal([]Onboard{{Name: "Integrated NIC", Instance: 2, Address: PCIAddress{Bus: 0x1a, Device: 1}}}))
	g.Expect(table.OnboardEthernet()[0].Address.String()).To(Equal("0000:1a:01.0"))
}

func FuzzTable(f *testing.F) {
	f.Add(slices.Concat(memory(0x7fff, 65536), structure(typeSlot, make([]byte, 13), "a", "b"), structure(typeEnd, nil)))
	f.Add([]byte{41, 4, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		table := Parse(raw)
		if table.InstalledMemory() < 0 {
			t.Error("negative memory")
		}
		table.VirtualMachine()
		table.Slots()
		for _, o := range table.OnboardEthernet() {
			_ = o.Address.String()
		}
	})
}
