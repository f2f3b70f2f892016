package gpus

import (
	"strings"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// functions are PCI functions: class, vendor, device.
func functions(rows map[string][3]string, files map[string]string) source.Machine {
	tree := fstest.MapFS{}
	for address, row := range rows {
		for i, file := range []string{"class", "vendor", "device"} {
			tree[strings.TrimPrefix(pciDir, "/")+"/"+address+"/"+file] = &fstest.MapFile{Data: []byte(row[i] + "\n")}
		}
	}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return source.Machine{Files: tree}
}

var cards = map[string][3]string{
	"0000:3b:00.0": {"0x030200", "0x10de", "0x20b0"},
	"0000:03:00.0": {"0x030000", "0x102b", "0x0536"},
	"0000:af:00.0": {"0x120000", "0x1da3", "0x1020"},
	"0000:04:00.0": {"0x038000", "0xfff9", "0x0001"}, // nobody's
	"0000:00:1f.0": {"0x060100", "0x8086", "0xa240"},
}

func TestGPUs(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Read(functions(cards, nil), Defaults())).To(Equal([]wire.Gpu{
		{Address: "0000:03:00.0", VendorID: "102b", DeviceID: "0536", Vendor: "Matrox Electronics Systems Ltd.", Name: "Integrated Matrox G200eW3 Graphics Controller"},
		{Address: "0000:04:00.0", VendorID: "fff9", DeviceID: "0001", Vendor: "fff9", Name: "0001"},
		{Address: "0000:3b:00.0", VendorID: "10de", DeviceID: "20b0", Vendor: "NVIDIA Corporation", Name: "GA100 [A100 SXM4 40GB]"},
		{Address: "0000:af:00.0", VendorID: "1da3", DeviceID: "1020", Vendor: "Habana Labs Ltd.", Name: "Gaudi2 AI Training Accelerator"},
	}))
	g.Expect(Read(source.Machine{Files: fstest.MapFS{}}, Defaults())).To(Equal([]wire.Gpu{}), "always present")
}

func TestTheHostsOwnNamesComeFirst(t *testing.T) {
	g := NewWithT(t)
	m := functions(map[string][3]string{"0000:3b:00.0": cards["0000:3b:00.0"]}, map[string]string{
		"usr/share/hwdata/pci.ids": "# comment\n10de  Newer Name\n\t20b0  Newer Card\n\t\t1234 5678  Subsystem\nC 03  Display\n",
	})
	g.Expect(Read(m, Defaults())).To(Equal([]wire.Gpu{{Address: "0000:3b:00.0", VendorID: "10de", DeviceID: "20b0", Vendor: "Newer Name", Name: "Newer Card"}}))
}

func TestConfiguration(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"classes":         {"classes:\n  - '0601'\n", []string{"0000:00:1f.0"}},
		"without quotes":  {"classes: [0601]\n", []string{"0000:00:1f.0"}},
		"vendors":         {"vendors:\n- 0302 10de\n- 0300 10de\n", []string{"0000:3b:00.0"}},
		"upper case":      {"vendors: ['0302  10DE']\n", []string{"0000:3b:00.0"}},
		"models":          {"models: [\"1200 1da3 1020\", \"1200 1da3 1021\"]\n", []string{"0000:af:00.0"}},
		"all three":       {"classes: ['0601']\nvendors: ['0302 10de']\nmodels: ['1200 1da3 1020']", []string{"0000:00:1f.0", "0000:3b:00.0", "0000:af:00.0"}},
		"nothing is left": {"", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config, err := ParseConfig([]byte(tc.text))
			g.Expect(err).NotTo(HaveOccurred())
			found := []string{}
			for _, gpu := range Read(functions(cards, nil), config) {
				found = append(found, gpu.Address)
			}
			g.Expect(found).To(Equal(tc.want))
		})
	}
	for name, text := range map[string]string{
		"unknown key": "modells: []", "class with vendor": "classes: ['0302 10de']", "vendor alone": "vendors: ['10de']", "no hex": "classes: ['zzzz']", "no list": "classes: x", "too large": strings.Repeat(
			" ", maxConfig+1,
		),
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := ParseConfig([]byte(text))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("GPU configuration")))
		})
	}
}

func FuzzConfiguration(f *testing.F) {
	f.Add("classes: ['0601']\nvendors: ['0302 10de']\nmodels: ['1200 1da3 1020']")
	f.Add("classes: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		config, err := ParseConfig([]byte(text))
		if err != nil {
			return
		}
		for _, class := range config.Classes {
			if len(class) != 4 {
				t.Errorf("odd class %q", class)
			}
		}
	})
}
