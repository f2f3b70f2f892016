package efiboot

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
)

// recorded is a variable that another program wrote, with its attributes.
func recorded(t testing.TB, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "#") {
			digits.WriteString(strings.TrimSpace(line))
		}
	}
	decoded, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// TestAsEfibootmgrWritesIt: byte for byte, and read as it was meant.
func TestAsEfibootmgrWritesIt(t *testing.T) {
	g := NewWithT(t)
	variable := recorded(t, "testdata/efibootmgr-17.hex")
	id := uuid.MustParse("11111111-0000-4000-8000-00000000abcd")
	drive := hardDrive{number: 2, start: 6144, size: 32768, partition: id}
	g.Expect(newOption("Red Hat Enterprise Linux", drive, `\EFI\redhat\shimx64.efi`)).To(Equal(variable[variableHead:]))
	g.Expect(binary.LittleEndian.Uint32(variable)).To(BeEquivalentTo(variableAttributes))
	g.Expect(parseOption(variable[variableHead:])).To(Equal(option{
		attributes: optionActive, label: "Red Hat Enterprise Linux", partition: id, loader: `\EFI\redhat\shimx64.efi`,
	}))
}

// TestLoadOptions: firmware and other systems write what they like.
func TestLoadOptions(t *testing.T) {
	drive := hardDrive{number: 2, start: 2048, size: 4096, partition: espID}
	option := func(description []byte, nodes ...[]byte) []byte {
		path := slices.Concat(nodes...)
		raw := binary.LittleEndian.AppendUint32(nil, optionActive)
		raw = binary.LittleEndian.AppendUint16(raw, uint16(len(path)))
		return slices.Concat(raw, description, path)
	}
	mbr := drive.node()
	mbr[40], mbr[41] = 1, 1
	pci := []byte{2, 1, 12, 0, 0xd0, 0x41, 3, 0x0a, 0, 0, 0, 0}
	whole := newOption("CoreOS", drive, `\EFI\redhat\shimx64.efi`)
	for name, tc := range map[string]struct {
		raw       []byte
		label     string
		partition uuid.UUID
		loader    string
		err       error
	}{
		"ours":                       {raw: whole, label: "CoreOS", partition: espID, loader: `\EFI\redhat\shimx64.efi`},
		"with data for the loader":   {raw: append(slices.Clone(whole), "BCDOBJECT={9dea862c}"...), label: "CoreOS", partition: espID, loader: `\EFI\redhat\shimx64.efi`},
		"controller and disk named":  {raw: option(text("x"), pci, drive.node(), fileNode(`\a.efi`), endNode), label: "x", partition: espID, loader: `\a.efi`},
		"a path in two nodes":        {raw: option(text("x"), drive.node(), fileNode(`\EFI`), fileNode(`a.efi`), endNode), label: "x", partition: espID, loader: `\EFI\a.efi`},
		"a path without its zero":    {raw: option(text("x"), drive.node(), []byte{4, 4, 8, 0, 'a', 0, 'b', 0}, endNode), label: "x", partition: espID, loader: "ab"},
		"only a partition":           {raw: option(text("x"), drive.node(), endNode), label: "x", partition: espID},
		"a disk with an MBR":         {raw: option(text("x"), mbr, fileNode(`\a.efi`), endNode), label: "x", loader: `\a.efi`},
		"a second path":              {raw: option(text("x"), pci, endNode, drive.node(), fileNode(`\a.efi`), endNode), label: "x"},
		"no end of the path":         {raw: option(text("x"), drive.node(), fileNode(`\a.efi`)), label: "x", partition: espID, loader: `\a.efi`},
		"a node of no length":        {raw: option(text("x"), []byte{2, 1, 0, 0}, drive.node(), endNode), label: "x"},
		"a node beyond the path":     {raw: option(text("x"), []byte{4, 1, 0xff, 0xff}), label: "x"},
		"a partition cut short":      {raw: option(text("x"), []byte{4, 1, 8, 0, 2, 0, 0, 0}, endNode), label: "x"},
		"no path":                    {raw: option(text("x")), label: "x"},
		"a name that is no UTF-16":   {raw: option([]byte{0x00, 0xd8, 'x', 0, 0, 0}, drive.node(), endNode), label: "\uFFFDx", partition: espID},
		"a name without end":         {raw: option([]byte{'x', 0, 'y'}), err: errNoEnd},
		"less than its path says":    {raw: whole[:len(whole)-8], err: errShort},
		"less than a head":           {raw: whole[:5], err: errShort},
		"nothing":                    {err: errShort},
		"a path of 65535, all of it": {raw: slices.Concat([]byte{1, 0, 0, 0, 0xff, 0xff}, text("x"), make([]byte, 0xffff)), label: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o, err := parseOption(tc.raw)
			if tc.err != nil {
				g.Expect(err).To(MatchError(tc.err))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(o.label).To(Equal(tc.label))
			g.Expect(o.partition).To(Equal(tc.partition))
			g.Expect(o.loader).To(Equal(tc.loader))
		})
	}
}

// FuzzParseOption: no bytes of a firmware end the step, and what is written of what
// was read reads the same.
func FuzzParseOption(f *testing.F) {
	f.Add(recorded(f, "testdata/efibootmgr-17.hex")[variableHead:])
	f.Add(app("UiApp"))
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := parseOption(raw)
		if err != nil {
			return
		}
		if again, err := parseOption(activated(raw)); err != nil || !again.startedByItself() || again.label != o.label || again.partition != o.partition || again.loader != o.loader {
			t.Errorf("activated: %+v became %+v (%v)", o, again, err)
		}
		if strings.ContainsRune(o.label+o.loader, 0) || len(o.loader) > 1000 || len(o.label) > 1000 {
			return
		}
		again, err := parseOption(newOption(o.label, hardDrive{number: 1, partition: o.partition}, o.loader))
		if err != nil || again.label != o.label || again.partition != o.partition || again.loader != o.loader {
			t.Errorf("written anew: %+v became %+v (%v)", o, again, err)
		}
	})
}
