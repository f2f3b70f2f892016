package blockdev

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestADeviceHasTwoNames: an order may name a device of the mapper as the kernel does, and it must not pass for a disk with
// nothing on it.
func TestADeviceHasTwoNames(t *testing.T) {
	g := NewWithT(t)
	tree := []Device{{Path: "/dev/sda", KName: "sda", Children: []Device{{Path: "/dev/mapper/vg0-root", KName: "dm-3", Type: "lvm"}}}}
	for _, name := range []string{"/dev/dm-3", "/dev/mapper/vg0-root"} {
		d, found := Find(tree, name)
		g.Expect(found).To(BeTrue(), name)
		g.Expect(d.Type).To(Equal("lvm"))
	}
	_, found := Find(tree, "/dev/dm-4")
	g.Expect(found).To(BeFalse())
}
