package coreos

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/step"
)

// skipping is a node with that list of what nobody may touch.
func skipping(entries ...any) step.Node {
	return step.Node{InstanceInfo: map[string]any{}, Properties: map[string]any{"skip_block_devices": entries}}
}

// TestAMemberOfASkippedArrayThatIsNotAssembled: an array that lacks a disk, or that the live
// system has not put together, has no device. What lies on its members is the same data.
func TestAMemberOfASkippedArrayThatIsNotAssembled(t *testing.T) {
	for name, tc := range map[string]struct{ tree, skip, want, why string }{
		"a disk": {
			`{"path": "/dev/sda", "kname": "sda", "type": "disk", "fstype": "linux_raid_member"}`, "data", "/dev/sdb",
			"/dev/sda must stay as it is: the node's skip_block_devices has volume_name=data",
		},
		"a partition": {
			`{"path": "/dev/sda", "kname": "sda", "type": "disk", "children": [{"path": "/dev/sda1", "kname": "sda1", "type": "part", "fstype": "linux_raid_member"}]}`, "data", "/dev/sdb",
			"/dev/sda has /dev/sda1, which must stay as it is: the node's skip_block_devices has volume_name=data",
		},
		"of an array of another name": {
			`{"path": "/dev/sda", "kname": "sda", "type": "disk", "fstype": "linux_raid_member"}`, "other", "/dev/sda", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, s, written := listed(t, twoPaths, `{"blockdevices": [`+tc.tree+`, {"path": "/dev/sdb", "kname": "sdb", "type": "disk"}]}`)
			m.export = "MD_LEVEL=raid1\nMD_NAME=oldhost:data\n"
			node := skipping(map[string]any{"volume_name": tc.skip})
			r := s.Run(t.Context(), order(m, node))
			g.Expect(*written).To(Equal(tc.want), "%+v", r)
			zeroed := ContainElement(HavePrefix("mdadm --zero-superblock"))
			if tc.why != "" {
				zeroed = Not(zeroed)
			}
			g.Expect(m.commands).To(zeroed)

			kept, err := Kept(t.Context(), s.Exec, m.host, node)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(kept) > 0).To(Equal(tc.why != ""), "the agent is told of %v", kept)
			*written = ""
			req := order(m, node)
			req.RootDevice = &step.RootDevice{Name: "/dev/sda"}
			r = s.Run(t.Context(), req)
			if tc.why != "" {
				g.Expect(*written).To(BeEmpty())
				g.Expect(r.Reason).To(ContainSubstring(tc.why))
			}
		})
	}
}

// TestWhatTheNodeSkipsMayLieOnADisk: a cache is a disk by its type, and its content is on
// the disk below.
func TestWhatTheNodeSkipsMayLieOnADisk(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "size": 107374182400}, {"path": "/dev/bcache0", "kname": "bcache0", "type": "disk", "size": 107374174208},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk", "size": 107374182400}]}`, `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "fstype": "bcache", "children": [{"path": "/dev/bcache0", "kname": "bcache0", "type": "disk", "fstype": "xfs"}]},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk"}]}`)
	r := s.Run(t.Context(), order(m, skipping(map[string]any{"name": "/dev/bcache0"})))
	g.Expect(*written).To(Equal("/dev/sdb"), "%+v", r)
}
