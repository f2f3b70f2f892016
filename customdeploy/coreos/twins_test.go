package coreos

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/played"
)

// twoOfOne is a machine with two paths to one LUN, of which multipathd has made no disk.
func twoOfOne(t *testing.T) (*machine, *Step, *string) {
	t.Helper()
	m, s, written := listed(t, twoPaths, bareDisks)
	for name, number := range map[string]string{"sda": "8:0", "sdb": "8:16"} {
		for path, text := range map[string]string{
			"/sys/block/" + name + "/device/type": "0", "/sys/block/" + name + "/size": "209715200", "/sys/class/block/" + name + "/dev": number,
			"/run/udev/data/b" + number: "E:ID_WWN_WITH_EXTENSION=0x60000970000197900123533030303030\nE:ID_SCSI_SERIAL=1",
		} {
			played.Write(t, m.host, path, text+"\n")
		}
	}
	return m, s, written
}

// TestTwoPathsWithoutMultipathd: IPA takes the first, and so does the step, which says
// what the installed system depends on.
func TestTwoPathsWithoutMultipathd(t *testing.T) {
	for _, answer := range []*step.RootDevice{nil, {Name: "/dev/sda"}} {
		g := NewWithT(t)
		m, s, written := twoOfOne(t)
		req := order(m, step.Node{InstanceInfo: map[string]any{}})
		req.RootDevice = answer
		r := s.Run(t.Context(), req)
		g.Expect(*written).To(Equal("/dev/sda"), "%+v", r)
		g.Expect(r.Reason).To(Equal("/dev/sda is one path of a disk that /dev/sdb reaches too, and multipathd has made no multipath disk of them: the installed system depends on this one path"))
		g.Expect(r.Result).To(HaveKeyWithValue("warning", r.Reason))
	}
}

// TestADiskThatTheNodeSkipsHasTwoPaths: by the one or the other, it is not written.
func TestADiskThatTheNodeSkipsHasTwoPaths(t *testing.T) {
	g := NewWithT(t)
	m, s, written := twoOfOne(t)
	r := s.Run(t.Context(), order(m, step.Node{
		InstanceInfo: map[string]any{}, Properties: map[string]any{"skip_block_devices": []any{map[string]any{"hctl": "2:0:0:0"}}},
	}))
	g.Expect(r.Outcome).To(Equal(step.Failed))
	g.Expect(r.Reason).To(ContainSubstring("/dev/sda must stay as it is: it is the same disk as /dev/sdb, and the node's skip_block_devices has hctl=2:0:0:0"))
	g.Expect(*written).To(BeEmpty())
}
