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

// TestAFirmwareRAIDThatTheNodeSkips: its members know its name, and nothing else does while it
// is not assembled. The answers are mdadm's own words (super-intel.c, super-ddf.c).
func TestAFirmwareRAIDThatTheNodeSkips(t *testing.T) {
	const (
		imsm = "ARRAY metadata=imsm UUID=1bd9f2a4:0a4e2a33:5f6ba2bb:9c5a0e77\nARRAY /dev/md/System container=1bd9f2a4:0a4e2a33:5f6ba2bb:9c5a0e77 member=0 UUID=62a1d9c1:1\n" +
			"ARRAY /dev/md/My Volume container=1bd9f2a4:0a4e2a33:5f6ba2bb:9c5a0e77 member=1 UUID=62a1d9c1:2\n"
		ddf       = "ARRAY metadata=ddf UUID=1bd9f2a4\nARRAY container=1bd9f2a4 member=0 UUID=1\nARRAY /dev/md/vd1 container=1bd9f2a4 member=1 UUID=2\n"
		volume    = `{"path": "/dev/md126", "kname": "md126", "type": "raid1"}`
		container = `{"path": "/dev/md127", "kname": "md127", "type": "md"}`
	)
	for name, tc := range map[string]struct{ fstype, children, brief, skip, want string }{
		"not assembled":                       {"isw_raid_member", "", imsm, "System", "/dev/sdb"},
		"the second on the disks":             {"isw_raid_member", "", imsm, "My Volume", "/dev/sdb"},
		"its container alone":                 {"isw_raid_member", container, imsm, "System", "/dev/sdb"},
		"assembled":                           {"isw_raid_member", volume + "," + container, imsm, "System", "/dev/sdb"},
		"the other one is assembled":          {"isw_raid_member", volume + "," + container, imsm, "My Volume", "/dev/sdb"},
		"DDF":                                 {"ddf_raid_member", "", ddf, "vd1", "/dev/sdb"},
		"of another name":                     {"isw_raid_member", "", imsm, "data", "/dev/sda"},
		"of another name, assembled":          {"isw_raid_member", volume + "," + container, imsm, "data", "/dev/sda"},
		"a spare disk, which belongs to none": {"isw_raid_member", "", "ARRAY metadata=imsm UUID=00000000:00000000:00000000:00000000\n", "System", "/dev/sda"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, s, written := listed(t, twoPaths, `{"blockdevices": [{"path": "/dev/sda", "kname": "sda", "type": "disk", "fstype": "`+tc.fstype+`", "children": [`+tc.children+`]},
				{"path": "/dev/sdb", "kname": "sdb", "type": "disk"}]}`)
			m.export, m.brief = "MD_METADATA=imsm\nMD_LEVEL=container\nMD_UUID=1bd9f2a4:0a4e2a33:5f6ba2bb:9c5a0e77\nMD_DEVICES=2\n", tc.brief
			node := skipping(map[string]any{"volume_name": tc.skip})
			r := s.Run(t.Context(), order(m, node))
			g.Expect(*written).To(Equal(tc.want), "%+v", r)
			kept, err := Kept(t.Context(), s.Exec, m.host, node)
			g.Expect(err).NotTo(HaveOccurred())
			if tc.want == "/dev/sdb" {
				g.Expect(m.commands).NotTo(ContainElement(MatchRegexp("^(wipefs|mdadm --(stop|zero))")))
				g.Expect(kept).To(HaveKeyWithValue("/dev/sda", "the node's skip_block_devices has volume_name="+tc.skip))
				return
			}
			g.Expect(m.commands).To(ContainElement("mdadm --zero-superblock /dev/sda"))
			g.Expect(kept).To(BeEmpty())
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
