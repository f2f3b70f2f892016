package coreos

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/played"
)

// mirrored is a machine with an array over two disks, one on a third disk alone,
// and a partition that once was a member.
const mirrored = `{"blockdevices": [
	{"path": "/dev/sda", "type": "disk", "fstype": null, "children": [
		{"path": "/dev/sda1", "type": "part", "fstype": "linux_raid_member", "children": [
			{"path": "/dev/md127", "type": "raid1", "fstype": "LVM2_member"}]}]},
	{"path": "/dev/sdb", "type": "disk", "fstype": null, "children": [
		{"path": "/dev/sdb1", "type": "part", "fstype": "linux_raid_member", "children": [
			{"path": "/dev/md127", "type": "raid1", "fstype": "LVM2_member"}]},
		{"path": "/dev/sdb2", "type": "part", "fstype": "linux_raid_member"}]},
	{"path": "/dev/sdc", "type": "disk", "fstype": "linux_raid_member", "children": [
		{"path": "/dev/md0", "type": "raid0", "fstype": "ext4"}]}]}`

// raidHost plays the commands; those that begin like one of broken fail.
func raidHost(tree string, broken ...string) (run hostexec.Exec, ran *[]string) {
	ran = &[]string{}
	return func(_ context.Context, argv []string, line func(string)) error {
		command := strings.Join(argv, " ")
		if argv[0] == "lsblk" {
			line(tree)
			return nil
		}
		*ran = append(*ran, command)
		if slices.ContainsFunc(broken, func(b string) bool { return strings.HasPrefix(command, b) }) {
			line("device or resource busy")
			return exit(1)
		}
		return nil
	}, ran
}

func TestRemoveRAIDs(t *testing.T) {
	all := []string{
		"wipefs --all --force /dev/md127", "mdadm --stop /dev/md127", "wipefs --all --force /dev/md0", "mdadm --stop /dev/md0",
		"mdadm --zero-superblock /dev/sda1", "mdadm --zero-superblock /dev/sdb1", "mdadm --zero-superblock /dev/sdb2",
		"mdadm --zero-superblock /dev/sdc", "udevadm settle",
	}
	for name, tc := range map[string]struct {
		tree    string
		broken  []string
		removed []string
		ran     []string
		warned  string
		err     string
	}{
		"no RAID: nothing is run": {tree: `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": "ext4"}]}`},
		"all are removed, each once": {
			tree: mirrored, removed: []string{"/dev/md127", "/dev/md0"}, ran: all,
		},
		"trouble on another disk is a warning": {
			tree: mirrored, broken: []string{"mdadm --stop /dev/md0"}, removed: []string{"/dev/md127"}, ran: all,
			warned: "remove the software RAID /dev/md0: mdadm: exit status 1: device or resource busy",
		},
		"trouble on the chosen disk fails": {
			tree: mirrored, broken: []string{"mdadm --stop /dev/md127"}, removed: []string{"/dev/md0"}, ran: all,
			err: "remove the software RAID /dev/md127 on /dev/sda: mdadm: exit status 1: device or resource busy",
		},
		"no lsblk": {tree: "{", err: "lsblk's answer"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			run, ran := raidHost(tc.tree, tc.broken...)
			var warned []error
			removed, err := removeRAIDs(t.Context(), run, "/dev/sda", func(err error) { warned = append(warned, err) })
			g.Expect(removed).To(Equal(tc.removed))
			g.Expect(*ran).To(HaveExactElements(tc.ran))
			if tc.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
			}
			if tc.warned == "" {
				g.Expect(warned).To(BeEmpty())
			} else {
				g.Expect(errors.Join(warned...)).To(MatchError(tc.warned))
			}
		})
	}
}

// TestRAIDsAndCleaning: who has switched automated cleaning off keeps the arrays.
func TestRAIDsAndCleaning(t *testing.T) {
	const onAnotherDisk = `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": "linux_raid_member", "children": [
		{"path": "/dev/md0", "type": "raid0", "fstype": "ext4"}]}, {"path": "/dev/sdb", "type": "disk", "fstype": null}]}`
	for name, tc := range map[string]struct {
		clean   *bool
		removes bool
	}{
		"not said": {nil, true}, "on": {new(true), true}, "off": {new(false), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t)
			m.install = func(context.Context, []string, func(string)) error { return nil }
			m.clean, m.tree = tc.clean, onAnotherDisk
			r := m.run(t.Context(), map[string]any{"root_device": map[string]any{"serial": "s== B"}})
			g.Expect(r.Outcome).To(Equal(step.Done), "%+v", r)
			removed := ContainElement(HavePrefix("mdadm --stop"))
			if !tc.removes {
				removed = Not(removed)
			}
			g.Expect(m.commands).To(removed)
		})
	}
}

// fakeRAID is a mirror that the firmware knows: a container over two disks, and in it the
// volume, which the disks hold as well.
const fakeRAID = `{"blockdevices": [
	{"path": "/dev/sda", "type": "disk", "fstype": "isw_raid_member", "children": [{"path": "/dev/md126", "type": "raid1", "fstype": null}, {"path": "/dev/md127", "type": "md", "fstype": null}]},
	{"path": "/dev/sdb", "type": "disk", "fstype": "isw_raid_member", "children": [{"path": "/dev/md126", "type": "raid1", "fstype": null}, {"path": "/dev/md127", "type": "md", "fstype": null}]}]}`

// TestAContainerIsTakenApart: as long as it is there the kernel gives nobody its members,
// and as long as they have their metadata it comes back.
func TestAContainerIsTakenApart(t *testing.T) {
	g := NewWithT(t)
	run, ran := raidHost(fakeRAID)
	removed, err := removeRAIDs(t.Context(), run, "/dev/sda", func(err error) { t.Error(err) })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(removed).To(Equal([]string{"/dev/md126", "/dev/md127"}))
	g.Expect(*ran).To(Equal([]string{
		"wipefs --all --force /dev/md126", "mdadm --stop /dev/md126", "mdadm --stop /dev/md127",
		"mdadm --zero-superblock /dev/sda", "mdadm --zero-superblock /dev/sdb", "udevadm settle",
	}))
}

// TestAMemberOfAKeptContainerIsNotWritten: where arrays are kept, a spare of one is too.
func TestAMemberOfAKeptContainerIsNotWritten(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, twoPaths, `{"blockdevices": [
	{"path": "/dev/sda", "type": "disk", "fstype": "isw_raid_member", "children": [{"path": "/dev/md127", "type": "md", "fstype": null}]}, {"path": "/dev/sdb", "type": "disk"}]}`)
	r := s.Run(t.Context(), order(m, step.Node{AutomatedClean: new(false), InstanceInfo: map[string]any{}}))
	g.Expect(*written).To(Equal("/dev/sdb"), "%+v", r)
}

// TestVolumesAreLetGo: the live system has activated what it found; a disk, or an array,
// whose volumes are active is nobody else's.
func TestVolumesAreLetGo(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, twoPaths, `{"blockdevices": [
	{"path": "/dev/sda", "type": "disk", "children": [
		{"path": "/dev/sda1", "type": "part", "fstype": "linux_raid_member", "children": [
			{"path": "/dev/md0", "type": "raid1", "fstype": "LVM2_member", "children": [{"path": "/dev/mapper/old-root", "type": "lvm"}]}]},
		{"path": "/dev/sda2", "type": "part", "fstype": "LVM2_member", "children": [{"path": "/dev/mapper/data-a", "type": "lvm"}]}]},
	{"path": "/dev/sdb", "type": "disk", "fstype": "LVM2_member", "children": [{"path": "/dev/mapper/other-b", "type": "lvm"}]}]}`)
	m.groups = map[string]string{"/dev/md0": "old", "/dev/sda2": "data", "/dev/sdb": "other"}
	r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}}))
	g.Expect(*written).To(Equal("/dev/sda"), "%+v", r)
	var changes []string
	for _, c := range m.commands {
		if !strings.HasPrefix(c, "lsblk") && !strings.HasPrefix(c, "udevadm info") && !strings.HasPrefix(c, "lvm pvs") && !strings.HasPrefix(c, "coreos-installer") {
			changes = append(changes, c)
		}
	}
	g.Expect(changes[:5]).To(Equal([]string{
		"lvm vgchange --activate n -- old", "lvm vgchange --activate n -- data",
		"wipefs --all --force /dev/md0", "mdadm --stop /dev/md0", "mdadm --zero-superblock /dev/sda1",
	}), "%v", changes)
	g.Expect(m.commands).NotTo(ContainElement(ContainSubstring("-- other")), "another disk's stays")
}

// TestVolumesThatAreNotLetGo are a warning: the installer finds the disk busy, or not.
func TestVolumesThatAreNotLetGo(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, twoPaths, `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": "LVM2_member"}, {"path": "/dev/sdb", "type": "disk"}]}`)
	m.broken = "lvm"
	r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}}))
	g.Expect(r.Outcome).To(Equal(step.Done), "%+v", r)
	g.Expect(*written).To(Equal("/dev/sda"))
}

// TestAnArrayThatIsInUseStays: what somebody has mounted is not wiped under the mount,
// wherever the system is installed to.
func TestAnArrayThatIsInUseStays(t *testing.T) {
	for name, mount := range map[string]string{
		"itself": "23 1 9:0 / /var/lib/data rw - xfs /dev/md0 rw\n", "a volume on it": "23 1 253:0 / /var/lib/data rw - xfs /dev/mapper/data-a rw\n",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, s, written := listed(t, twoPaths, `{"blockdevices": [
	{"path": "/dev/sda", "type": "disk", "maj:min": "8:0"},
	{"path": "/dev/sdb", "type": "disk", "fstype": "linux_raid_member", "maj:min": "8:16", "children": [
		{"path": "/dev/md0", "type": "raid1", "fstype": "LVM2_member", "maj:min": "9:0", "children": [{"path": "/dev/mapper/data-a", "type": "lvm", "fstype": "xfs", "maj:min": "253:0"}]}]}]}`)
			played.Write(t, m.host, "/proc/1/mountinfo", mount)
			r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}}))
			g.Expect(*written).To(Equal("/dev/sda"), "%+v", r)
			g.Expect(m.commands).NotTo(ContainElement(MatchRegexp("^(wipefs|mdadm|lvm vgchange)")))
		})
	}
}
