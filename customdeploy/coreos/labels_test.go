package coreos

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/step"
)

// earlier is a machine with CoreOS on a disk that is not the one to be written, and on
// an array that the step removes.
const earlier = `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "children": [{"path": "/dev/sda3", "kname": "sda3", "type": "part", "fstype": "ext4", "label": "boot"}]},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk", "children": [
		{"path": "/dev/sdb3", "kname": "sdb3", "type": "part", "fstype": "ext4", "label": "LABEL"},
		{"path": "/dev/sdb4", "kname": "sdb4", "type": "part", "fstype": "linux_raid_member", "label": "any:md-boot", "children": [
			{"path": "/dev/md0", "kname": "md0", "type": "raid1", "fstype": "ext4", "label": "boot"}]}]}]}`

// TestASecondBoot: CoreOS does not come up beside another file system of that label
// (coreos-installer#1731, fedora-coreos-tracker#1640), and nobody hears of it.
func TestASecondBoot(t *testing.T) {
	drive := func(storage string) map[string]any {
		return map[string]any{"user_data": `{"ignition": {"version": "3.2.0"}, "storage": {` + storage + `}}`}
	}
	for name, tc := range map[string]struct {
		label, storage string
		keeps          bool
		warns          bool
		reason         string
	}{
		"nothing beside the array, which goes": {label: "data"},
		"an earlier system":                    {label: "boot", reason: "/dev/sdb3 has a file system with the label boot, beside which CoreOS does not start"},
		"one that the config wipes":            {label: "boot", storage: `"disks": [{"device": "/dev/sdb", "wipeTable": true}]`, warns: true},
		"one that becomes a part of an array": {
			label: "boot", storage: `"raid": [{"name": "md-boot", "level": "raid1", "devices": ["/dev/disk/by-partlabel/boot-1", "/dev/disk/by-partlabel/boot-2"]}]`,
			warns: true,
		},
		"an array that stays": {label: "data", keeps: true, reason: "/dev/md0 has a file system with the label boot"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, s, written := listed(t, twoPaths, strings.Replace(earlier, "LABEL", tc.label, 1))
			node := step.Node{InstanceInfo: map[string]any{"root_device": map[string]any{"name": "/dev/sda"}}}
			if tc.storage != "" {
				node.InstanceInfo["configdrive"] = drive(tc.storage)
			}
			if tc.keeps {
				node.AutomatedClean = new(false)
			}
			r := s.Run(t.Context(), order(m, node))
			if tc.reason == "" {
				g.Expect(*written).To(Equal("/dev/sda"), "%+v", r)
				g.Expect(strings.Contains(r.Reason, "does not start on /dev/sda (coreos-ignition-unique-boot) unless the Ignition config wipes it")).To(Equal(tc.warns), r.Reason)
				return
			}
			g.Expect(r.Outcome).To(Equal(step.Failed))
			g.Expect(r.Reason).To(ContainSubstring(tc.reason))
			g.Expect(*written).To(BeEmpty())
			g.Expect(m.commands).NotTo(ContainElement(MatchRegexp("^(wipefs|mdadm --(stop|zero))")), "nothing is touched")
		})
	}
}

// TestPathsOfTheDiskHaveItsLabels: they are no second system.
func TestPathsOfTheDiskHaveItsLabels(t *testing.T) {
	g := NewWithT(t)
	m, s, written := twoOfOne(t)
	m.tree = strings.ReplaceAll(bareDisks, `"fstype": null`, `"fstype": "ext4", "label": "boot"`)
	r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}}))
	g.Expect(*written).To(Equal("/dev/sda"), "%+v", r)
}
