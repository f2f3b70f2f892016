// Package smbios reads the firmware's table of hardware (SMBIOS, DSP0134) as
// the kernel shows it in /sys/firmware/dmi/tables/DMI. It knows the few
// structures that the inventory needs; the main type is [Table]. The table is
// the firmware's, so every length is checked.
package smbios

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// File is where the kernel shows the table.
const File = "/sys/firmware/dmi/tables/DMI"

// maxStructures bounds a table; the largest machines have some thousands.
const maxStructures = 1 << 16

// Types of structures.
const (
	typeBIOS         = 0
	typeSlot         = 9
	typeMemoryDevice = 17
	typeOnboard      = 41
	typeEnd          = 127
)

// Structure is one entry of the table.
type Structure struct {
	Type byte
	// Raw is the formatted part with its four bytes of header.
	Raw     []byte
	strings []string
}

// Table is all entries in order.
type Table []Structure

// Read reads the machine's table; empty when it has none.
func Read(m source.Machine) Table {
	raw, err := m.Read(File)
	if err != nil {
		return nil
	}
	return Parse(raw)
}

// Parse splits a table; it ends at the first entry that cannot be read.
func Parse(raw []byte) Table {
	var table Table
	for len(raw) >= 4 && len(table) < maxStructures {
		length := int(raw[1])
		if length < 4 || length > len(raw) {
			break
		}
		s := Structure{Type: raw[0], Raw: raw[:length:length]}
		// The strings follow, each with a zero byte, and one more after the last.
		end := bytes.Index(raw[length:], []byte{0, 0})
		if end < 0 {
			break
		}
		if end > 0 {
			s.strings = strings.Split(string(raw[length:length+end]), "\x00")
		}
		table = append(table, s)
		raw = raw[length+end+2:]
		if s.Type == typeEnd {
			break
		}
	}
	return table
}

// byteAt and its kin are zero beyond the structure's end: older versions of the
// standard have shorter structures.
func (s Structure) byteAt(offset int) byte {
	if offset >= len(s.Raw) {
		return 0
	}
	return s.Raw[offset]
}

func (s Structure) wordAt(offset int) uint16 {
	if offset+2 > len(s.Raw) {
		return 0
	}
	return binary.LittleEndian.Uint16(s.Raw[offset:])
}

func (s Structure) doubleAt(offset int) uint32 {
	if offset+4 > len(s.Raw) {
		return 0
	}
	return binary.LittleEndian.Uint32(s.Raw[offset:])
}

// stringAt returns the string whose number is at the offset.
func (s Structure) stringAt(offset int) string {
	if n := int(s.byteAt(offset)); n > 0 && n <= len(s.strings) {
		return strings.TrimSpace(s.strings[n-1])
	}
	return ""
}

// InstalledMemory sums the sizes of all memory devices (type 17), bytes; zero
// when the table tells nothing.
func (t Table) InstalledMemory() int64 {
	var total int64
	for _, s := range t {
		if s.Type != typeMemoryDevice {
			continue
		}
		switch size := s.wordAt(0x0c); {
		case size == 0 || size == 0xffff: // empty socket, unknown
		case size == 0x7fff: // see the extended size, MiB
			total += int64(s.doubleAt(0x1c)&0x7fffffff) << 20
		case size&0x8000 != 0: // KiB
			total += int64(size&0x7fff) << 10
		default:
			total += int64(size) << 20
		}
	}
	return total
}

// VirtualMachine tells whether the firmware says that it is a virtual machine's
// (type 0, second byte of the characteristics' extension, bit 4).
func (t Table) VirtualMachine() bool {
	for _, s := range t {
		if s.Type == typeBIOS {
			return s.byteAt(0x13)&0x10 != 0
		}
	}
	return false
}

// PCIAddress is where a PCI function is.
type PCIAddress struct {
	Segment          uint16
	Bus              byte
	Device, Function byte
}

// address reads segment, bus and device/function of types 9 and 41.
func (s Structure) address(segment, bus, function int) (PCIAddress, bool) {
	a := PCIAddress{Segment: s.wordAt(segment), Bus: s.byteAt(bus), Device: s.byteAt(function) >> 3, Function: s.byteAt(function) & 7}
	absent := a.Segment == 0xffff || (a.Bus == 0xff && s.byteAt(function) == 0xff)
	return a, len(s.Raw) > function && !absent
}

// Slot is an expansion slot (type 9) with the function that is plugged into it.
type Slot struct {
	Name    string
	Number  uint16
	Address PCIAddress
}

// Slots lists the slots whose address is known.
func (t Table) Slots() []Slot {
	var out []Slot
	for _, s := range t {
		if s.Type != typeSlot {
			continue
		}
		if address, ok := s.address(0x0d, 0x0f, 0x10); ok {
			out = append(out, Slot{Name: s.stringAt(0x04), Number: s.wordAt(0x09), Address: address})
		}
	}
	return out
}

// onboardEthernet is the kind of device of an embedded network interface.
const onboardEthernet = 5

// Onboard is an embedded network interface (type 41).
type Onboard struct {
	Name     string
	Instance byte
	Address  PCIAddress
}

// OnboardEthernet lists the embedded interfaces that are switched on.
func (t Table) OnboardEthernet() []Onboard {
	var out []Onboard
	for _, s := range t {
		if s.Type != typeOnboard || s.byteAt(0x05) != 0x80|onboardEthernet {
			continue
		}
		if address, ok := s.address(0x07, 0x09, 0x0a); ok {
			out = append(out, Onboard{Name: s.stringAt(0x04), Instance: s.byteAt(0x06), Address: address})
		}
	}
	return out
}

// String is the address as sysfs writes it.
func (a PCIAddress) String() string {
	return fmt.Sprintf("%04x:%02x:%02x.%d", a.Segment, a.Bus, a.Device, a.Function)
}
