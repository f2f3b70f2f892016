package coreos_test

import (
	"context"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
)

// TestAVolumeGroupIsDeactivatedBesideWarnings: lvm 2.03 says what is wrong with a volume group on stderr
// and its name on stdout, with exit status 0. The text is that of a group whose other disk is gone.
func TestAVolumeGroupIsDeactivatedBesideWarnings(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.trees["/dev/sda"] = `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": null, "children": [
		{"path": "/dev/sda2", "type": "part", "fstype": "LVM2_member", "children": [{"path": "/dev/mapper/vg0-root", "type": "lvm", "fstype": "xfs"}]}]}]}`
	h.On("lvm pvs", func(_ context.Context, c command.Command) error {
		if c.Stderr != nil {
			fmt.Fprint(c.Stderr, "  WARNING: Couldn't find device with uuid m2xBdB-kn9K-DBCu-SeIZ-5zlO-W55o-QjHbKc.\n"+
				"  WARNING: VG vg0 is missing PV m2xBdB-kn9K-DBCu-SeIZ-5zlO-W55o-QjHbKc (last written to /dev/sdb).\n")
		}
		fmt.Fprint(c.Stdout, "  vg0\n")
		return nil
	})
	g.Expect(h.run(t.Context(), order(nil))).To(Succeed())
	g.Expect(h.changes()).To(ContainElement("lvm vgchange --activate n -- vg0"))
}
