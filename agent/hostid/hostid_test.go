package hostid_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hostid"
	"github.com/ironflow/ironflow/api/hostfile"
)

func TestRules(t *testing.T) {
	const productUUID = "4C4C4544-0051-4810-8052-B4C04F4D3332"
	macs := []string{"52:54:00:00:00:02", "52:54:00:00:00:01"}
	for name, tc := range map[string]struct {
		sources hostid.Sources
		want    string
	}{
		// md5("abc") is 900150983cd24fb0d6963f7d28e17f72
		"board serial":            {hostid.Sources{BoardSerial: " abc\n", ProductUUID: productUUID}, "90015098-3cd2-4fb0-d696-3f7d28e17f72"},
		"placeholder serial":      {hostid.Sources{BoardSerial: "None", ProductUUID: productUUID}, "4c4c4544-0051-4810-8052-b4c04f4d3332"},
		"vendor's placeholder":    {hostid.Sources{BoardSerial: "To Be Filled By O.E.M.", ProductUUID: productUUID}, "4c4c4544-0051-4810-8052-b4c04f4d3332"},
		"case does not matter":    {hostid.Sources{BoardSerial: "PCA_NUMBER.acc", ProductUUID: productUUID}, "4c4c4544-0051-4810-8052-b4c04f4d3332"},
		"zero UUID, lowest MAC":   {hostid.Sources{ProductUUID: "00000000-0000-0000-0000-000000000000", MACs: macs}, "99693c83-2d5b-ad7b-d26e-7c3605f8fe8d"},
		"shared UUID, lowest MAC": {hostid.Sources{ProductUUID: "03000200-0400-0500-0006-000700080009", MACs: macs}, "99693c83-2d5b-ad7b-d26e-7c3605f8fe8d"},
		"no UUID at all":          {hostid.Sources{ProductUUID: "Not Settable", MACs: macs}, "99693c83-2d5b-ad7b-d26e-7c3605f8fe8d"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			id, err := hostid.Of(tc.sources)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(id).To(Equal(tc.want))
		})
	}
}

func TestNothingToIdentify(t *testing.T) {
	_, err := hostid.Of(hostid.Sources{BoardSerial: "-"})
	NewWithT(t).Expect(err).To(MatchError(hostid.ErrNone))
}

func TestRead(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(root, path)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	}
	link := func(target, path string) { g.Expect(os.Symlink(target, filepath.Join(root, path))).To(Succeed()) }
	write("sys/class/dmi/id/board_serial", "BS1\n")
	write("sys/devices/pci0/net/eth0/address", "AA:00:00:00:00:01\n")
	write("sys/devices/pci1/net/eth1/address", "aa:00:00:00:00:01\n")
	write("sys/devices/pci1/net/eth1/bonding_slave/perm_hwaddr", "aa:00:00:00:00:02\n")
	write("sys/devices/virtual/net/br0/address", "00:00:00:00:00:05\n")
	g.Expect(os.MkdirAll(filepath.Join(root, "sys/class/net"), 0o755)).To(Succeed())
	link("../../devices/pci0/net/eth0", "sys/class/net/eth0")
	link("../../devices/pci1/net/eth1", "sys/class/net/eth1")
	link("../../devices/virtual/net/br0", "sys/class/net/br0")

	g.Expect(hostid.Read(hostfile.Dir{Root: root})).To(Equal(hostid.Sources{
		BoardSerial: "BS1", MACs: []string{"aa:00:00:00:00:01", "aa:00:00:00:00:02"},
	}), "a bond member counts with its own MAC, a bridge not at all")
}
