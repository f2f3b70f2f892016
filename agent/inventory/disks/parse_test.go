package disks

import (
	"encoding/binary"
	"maps"
	"testing"

	. "github.com/onsi/gomega"
)

func TestUdevProperties(t *testing.T) {
	g := NewWithT(t)
	got := maps.Collect(properties("S:disk/by-id/wwn-0x5\nI:123\nE:ID_SERIAL=DISK_ONE\nE:ID_MODEL=A=B \nE:BROKEN\nG:systemd\n"))
	g.Expect(got).To(Equal(map[string]string{"ID_SERIAL": "DISK_ONE", "ID_MODEL": "A=B"}))
	g.Expect(unescape(`agent\x20boot\x2D1\xzz\x4`)).To(Equal(`agent boot-1\xzz\x4`))
}

// page renders page 0x83 with the designators' lengths.
func page(lengths ...int) []byte {
	out := []byte{0, identification, 0, 0}
	for _, n := range lengths {
		out = append(out, 1, 3, 0, byte(n))
		out = append(out, make([]byte, n)...)
	}
	binary.BigEndian.PutUint16(out[2:], uint16(len(out)-4))
	return out
}

func TestIdentificationPage(t *testing.T) {
	for name, tc := range map[string]struct {
		page []byte
		want bool
	}{
		"one": {page(8), true}, "second": {page(0, 16), true}, "empty": {page(), false}, "only empty ones": {page(0, 0), false},
		"cut": {page(8)[:10], false}, "other page": {[]byte{0, 0x80, 0, 4, 'a', 'b', 'c', 'd'}, false}, "nothing": {nil, false},
	} {
		NewWithT(t).Expect(hasDesignator(tc.page)).To(Equal(tc.want), name)
	}
}

// ibft renders a table with the targets; flags say which are valid.
func ibft(names []string, flags []byte) []byte {
	raw := make([]byte, 1024)
	copy(raw, "iBFT")
	control := raw[ibftHeader:]
	control[0], control[1] = ibftControl, 1
	binary.LittleEndian.PutUint16(control[2:], uint16(ibftFirst+2*5))
	for i, name := range names {
		at, text := 128+i*64, 512+i*128
		binary.LittleEndian.PutUint16(control[ibftFirst+4+2*i*2:], uint16(at)) // initiator, NIC 0, target 0, NIC 1, target 1
		target := raw[at:]
		target[0], target[1], target[5] = ibftTarget, 1, flags[i]
		binary.LittleEndian.PutUint16(target[2:], 54)
		binary.LittleEndian.PutUint16(target[ibftNameLength:], uint16(len(name)))
		binary.LittleEndian.PutUint16(target[ibftNameOffset:], uint16(text))
		copy(raw[text:], name)
	}
	return raw
}

func TestBootTable(t *testing.T) {
	g := NewWithT(t)
	g.Expect(parseIBFT(ibft([]string{"iqn.2026-01.example:a", "iqn.2026-01.example:b"}, []byte{3, 1}))).To(Equal([]string{"iqn.2026-01.example:a", "iqn.2026-01.example:b"}))
	g.Expect(parseIBFT(ibft([]string{"iqn.2026-01.example:a", "iqn.2026-01.example:b"}, []byte{0, 1}))).To(Equal([]string{"iqn.2026-01.example:b"}), "the first is not valid")
	g.Expect(parseIBFT(ibft([]string{"x"}, []byte{1})[:140])).To(BeEmpty())
	g.Expect(parseIBFT(nil)).To(BeEmpty())
}

func FuzzBootTable(f *testing.F) {
	f.Add(ibft([]string{"iqn.2026-01.example:a", "b"}, []byte{3, 1}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, name := range parseIBFT(raw) {
			if len(name) > len(raw) {
				t.Error("a name from nowhere")
			}
		}
	})
}

func FuzzIdentificationPage(f *testing.F) {
	f.Add(page(8, 16))
	f.Add([]byte{0, 0x83, 0xff, 0xff, 1, 3, 0, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if hasDesignator(raw) && len(raw) < 9 {
			t.Error("no room for a designator")
		}
	})
}

func FuzzUdevProperties(f *testing.F) {
	f.Add("E:ID_SERIAL=x\nE:a\\x20\nS:b\n")
	f.Fuzz(func(t *testing.T, text string) {
		for key, value := range properties(text) {
			if len(unescape(value)) > len(value) {
				t.Errorf("%s grew", key)
			}
		}
	})
}
