package mounts

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestMountTable(t *testing.T) {
	g := NewWithT(t)
	g.Expect(parse(`25 1 259:1 / /run/media/iso ro,relatime - iso9660 /dev/nvme0n1p1 ro
26 1 7:0 / /sysroot ro shared:1 master:2 - squashfs /dev/loop0 ro
27 1 8:2 / /mnt/old\040disk\134x rw - xfs /dev/sda2 rw
not a mount
28 1 0:5 / /proc rw -
`)).To(Equal([]Mount{
		{Device: "259:1", Target: "/run/media/iso", Type: "iso9660", Source: "/dev/nvme0n1p1"},
		{Device: "7:0", Target: "/sysroot", Type: "squashfs", Source: "/dev/loop0"},
		{Device: "8:2", Target: `/mnt/old disk\x`, Type: "xfs", Source: "/dev/sda2"},
	}))
}

func FuzzMountTable(f *testing.F) {
	f.Add("25 1 259:1 / /run/media/iso ro,relatime - iso9660 /dev/nvme0n1p1 ro\n")
	f.Add(`1 1 1:1 / \0 - a \04`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range parse(text) {
			if m.Device == "" || m.Target == "" || m.Source == "" {
				t.Errorf("a mount without a part: %+v", m)
			}
		}
	})
}
