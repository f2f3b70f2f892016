package coreos_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

// TestWhatReachesToOtherDisks: a write to a device that lies on several disks is
// a write to all of them, and the order names one.
func TestWhatReachesToOtherDisks(t *testing.T) {
	for name, tc := range map[string]struct {
		tree string
		want []string
	}{
		"a RAID with a file system": {
			`{"path": "/dev/sda", "type": "disk", "fstype": "linux_raid_member", "children": [{"path": "/dev/md0", "type": "raid1", "fstype": "ext4"}]}`,
			[]string{"mdadm --stop /dev/md0", "mdadm --zero-superblock /dev/sda", "wipefs --all --force /dev/sda"},
		},
		"partitions of a RAID": {
			`{"path": "/dev/sda", "type": "disk", "fstype": "linux_raid_member", "children": [{"path": "/dev/md0", "type": "raid1", "fstype": null, "children": [
				{"path": "/dev/md0p1", "type": "part", "fstype": "LVM2_member"}]}]}`,
			[]string{"lvm vgchange --activate n -- vg0", "mdadm --stop /dev/md0", "mdadm --zero-superblock /dev/sda", "wipefs --all --force /dev/sda"},
		},
		"a cache of another disk": {
			`{"path": "/dev/sda", "type": "disk", "fstype": "bcache", "children": [{"path": "/dev/bcache0", "type": "disk", "fstype": "xfs"}]}`,
			[]string{"wipefs --all --force /dev/sda"},
		},
		"a linear array": {
			`{"path": "/dev/sda", "type": "disk", "fstype": "linux_raid_member", "children": [{"path": "/dev/md0", "type": "linear", "fstype": "xfs"}]}`,
			[]string{"mdadm --stop /dev/md0", "mdadm --zero-superblock /dev/sda", "wipefs --all --force /dev/sda"},
		},
		"LVM in LVM": {
			`{"path": "/dev/sda", "type": "disk", "fstype": "LVM2_member", "children": [{"path": "/dev/mapper/a-b", "type": "lvm", "fstype": "LVM2_member"}]}`,
			[]string{"lvm vgchange --activate n -- vg0", "lvm vgchange --activate n -- vg0", "lvm pvremove --yes --force --force /dev/sda", "wipefs --all --force /dev/sda"},
		},
		"a multipath disk": {
			`{"path": "/dev/mapper/mpatha", "kname": "sda", "type": "mpath", "fstype": null, "children": [
				{"path": "/dev/mapper/mpatha1", "type": "part", "fstype": "LVM2_member", "children": [{"path": "/dev/mapper/a-b", "type": "lvm", "fstype": "xfs"}]}]}`,
			[]string{"lvm vgchange --activate n -- vg0", "lvm pvremove --yes --force --force /dev/mapper/mpatha1", "wipefs --all --force /dev/mapper/mpatha1", "wipefs --all --force /dev/mapper/mpatha"},
		},
		"a RAID that is the disk itself stays one": {
			`{"path": "/dev/md126", "kname": "sda", "type": "raid1", "fstype": null, "children": [{"path": "/dev/md126p1", "type": "part", "fstype": "vfat"}]}`,
			[]string{"wipefs --all --force /dev/md126p1", "wipefs --all --force /dev/md126"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees["/dev/sda"] = `{"blockdevices": [` + tc.tree + `]}`
			h.On("lvm pvs", played.Says("  vg0\n"))
			g.Expect(h.run(t.Context(), order(nil))).To(Succeed())
			changes := h.changes()
			g.Expect(changes[:len(changes)-3]).To(Equal(tc.want))
		})
	}
}

// TestOnlyAWholeDiskIsWritten: coreos-installer would write a partition table
// into a partition.
func TestOnlyAWholeDiskIsWritten(t *testing.T) {
	for _, kind := range []string{"part", "lvm", "crypt"} {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees["/dev/sda"] = `{"blockdevices": [{"path": "/dev/sda", "type": "` + kind + `", "fstype": null}]}`
			g.Expect(h.run(t.Context(), order(nil))).To(MatchError("check-disk: /dev/sda is no whole disk, its type is " + kind))
			g.Expect(h.changes()).To(BeEmpty())
		})
	}
}

// TestAPathIsNotTheDisk: multipathd holds it, so that it cannot be written; the
// disk itself would have been wiped in vain.
func TestAPathIsNotTheDisk(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.trees["/dev/sda"] = `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": "mpath_member", "children": [{"path": "/dev/mapper/mpatha", "type": "mpath", "fstype": null}]}]}`
	g.Expect(h.run(t.Context(), order(nil))).To(MatchError("check-disk: /dev/sda is one path of the multipath disk /dev/mapper/mpatha; the order must name that"))
	g.Expect(h.changes()).To(BeEmpty())
}

// TestAMountedDeviceHasManyNames: whoever mounted it may have used another one
// than lsblk does.
func TestAMountedDeviceHasManyNames(t *testing.T) {
	for name, line := range map[string]string{
		"the kernel's":                          "23 1 253:0 / /var rw shared:3 - xfs /dev/dm-0 rw\n",
		"the boot loader's":                     "23 1 253:0 / / rw shared:3 - xfs /dev/root rw\n",
		"a file system that has its own number": "23 1 0:31 /root /sysroot rw - btrfs /dev/mapper/old-root rw\n",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees["/dev/sda"] = `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": "LVM2_member", "maj:min": "8:0", "children": [
				{"path": "/dev/mapper/old-root", "type": "lvm", "fstype": "xfs", "maj:min": "253:0"}]}]}`
			h.write(t, "/proc/1/mountinfo", line)
			g.Expect(h.run(t.Context(), order(nil))).To(MatchError(ContainSubstring("/dev/sda is in use: /dev/mapper/old-root is mounted")))
			g.Expect(h.changes()).To(BeEmpty())
		})
	}
}

// TestTheDiskIsTheOneOfTheOrder: between the order and the writing lie minutes,
// on a bootstrap host up to an hour.
func TestTheDiskIsTheOneOfTheOrder(t *testing.T) {
	const name = "/dev/disk/by-id/wwn-0x1"
	for what, tc := range map[string]struct {
		links []string // what the name means, call by call; empty: it is gone
		want  string
		wiped bool
	}{
		"another one at once": {links: []string{"/dev/sdb"}, want: "check-disk: the order names " + name + ", which was /dev/sda when it came and is /dev/sdb now; neither is written"},
		"another one since":   {links: []string{"/dev/sda", "/dev/sdb"}, want: "clean-disks: the order names " + name + ", which was /dev/sda when it came and is /dev/sdb now; neither is written"},
		"another one at the end": {
			links: []string{"/dev/sda", "/dev/sda", "/dev/sdb"},
			want:  "write-image: the order names " + name + ", which was /dev/sda when it came and is /dev/sdb now; neither is written", wiped: true,
		},
		"gone":                  {links: []string{"/dev/sda", "", ""}, want: "clean-disks: no such link"},
		"udev renews its links": {links: []string{"/dev/sda", "", "/dev/sda"}, wiped: true},
	} {
		t.Run(what, func(t *testing.T) {
			g := NewWithT(t)
			h, asked := newHost(t), 0
			h.resolve = func(path string) (string, error) {
				g.Expect(path).To(Equal(name))
				link := tc.links[min(asked, len(tc.links)-1)]
				asked++
				if link == "" {
					return "", errors.New("no such link")
				}
				return link, nil
			}
			err := h.run(t.Context(), order(nil))
			written := slices.ContainsFunc(h.changes(), func(line string) bool { return strings.HasPrefix(line, "coreos-installer") })
			g.Expect(h.changes()).To(WithTransform(func(ran []string) bool { return slices.Contains(ran, "wipefs --all --force /dev/sda") }, Equal(tc.wiped)))
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(tc.want))
			g.Expect(written).To(BeFalse())
		})
	}
}

// TestAnotherTryDoesNotWriteAnotherDisk: a disk that fails may be gone, and another one have its name.
func TestAnotherTryDoesNotWriteAnotherDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		h, tries, link := newHost(t), 0, "/dev/sda"
		h.resolve = func(string) (string, error) { return link, nil }
		h.On("coreos-installer install", func(_ context.Context, c command.Command) error {
			tries, link = tries+1, "/dev/sdb"
			fmt.Fprint(c.Stderr, "Error: write failed\nCaused by: Input/output error (os error 5)\n")
			return errors.New("exit status 1")
		})
		err := h.run(t.Context(), order(nil))
		g.Expect(err).To(MatchError(And(ContainSubstring("/dev/sda: coreos-installer: Caused by: Input/output error"),
			ContainSubstring("it is not tried again: the order names /dev/disk/by-id/wwn-0x1, which was /dev/sda when it came and is /dev/sdb now"))))
		g.Expect(tries).To(Equal(1))
	})
}

// TestADiskThatIsPutToUseMeanwhileIsNotCleaned: between the check of an order and its
// cleaning lies all the time in which the hub does not answer.
func TestADiskThatIsPutToUseMeanwhileIsNotCleaned(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.trees["/dev/sda"] = used
	h.ignition = func() ([]byte, error) {
		h.write(t, "/proc/1/mountinfo", "23 1 8:3 / /mnt/rescue rw - vfat /dev/sda3 rw\n")
		return []byte(`{"ignition": {"version": "3.4.0"}}`), nil
	}
	g.Expect(h.run(t.Context(), order(nil))).To(MatchError("clean-disks: /dev/sda is in use: /dev/sda3 is mounted on /mnt/rescue"))
	g.Expect(h.changes()).To(BeEmpty())
}

// TestDisksToFormat are other disks than the one to install to.
func TestDisksToFormat(t *testing.T) {
	const sdb = `{"path": "/dev/sdb", "type": "disk", "fstype": null}`
	for name, tc := range map[string]struct {
		disk, ordered string // their trees
		resolved      string
		wiped         bool
		twins         bool // udev knows both by the same names
	}{
		"the same one by another path": {disk: `{"path": "/dev/sdb", "kname": "sdb", "type": "disk"}`, ordered: `{"path": "/dev/sda", "kname": "sda", "type": "disk"}`, twins: true},
		"another disk":                 {disk: sdb, ordered: `{"path": "/dev/sda", "type": "disk"}`, wiped: true},
		"a link that has moved":        {disk: sdb, ordered: `{"path": "/dev/sda", "type": "disk"}`, resolved: "/dev/sdc"},
		"a partition":                  {disk: `{"path": "/dev/sdb", "type": "part"}`, ordered: `{"path": "/dev/sda", "type": "disk"}`},
		"a path of the ordered one": {
			disk:    `{"path": "/dev/sdb", "type": "disk", "children": [{"path": "/dev/mapper/mpatha", "type": "mpath"}]}`,
			ordered: `{"path": "/dev/mapper/mpatha", "kname": "sda", "type": "mpath"}`,
		},
		"what lies on it": {
			disk:    `{"path": "/dev/md126", "kname": "sdb", "type": "raid1"}`,
			ordered: `{"path": "/dev/sda", "type": "disk", "children": [{"path": "/dev/md126", "type": "raid1"}]}`,
		},
		"a member of its RAID": {
			disk:    `{"path": "/dev/sdb", "type": "disk", "fstype": "isw_raid_member", "children": [{"path": "/dev/md126", "type": "raid1"}]}`,
			ordered: `{"path": "/dev/md126", "kname": "sda", "type": "raid1"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees = map[string]string{"/dev/sda": `{"blockdevices": [` + tc.ordered + `]}`, "/dev/sdb": `{"blockdevices": [` + tc.disk + `]}`}
			h.resolve = func(path string) (string, error) {
				if path == "/dev/disk/by-id/wwn-0x2" {
					return cmp.Or(tc.resolved, "/dev/sdb"), nil
				}
				return "/dev/sda", nil
			}
			for disk, number := range map[string]string{"sda": "8:0", "sdb": "8:16"} {
				if !tc.twins {
					break
				}
				for path, text := range map[string]string{
					"/sys/block/" + disk + "/dev": number, "/sys/class/block/" + disk + "/dev": number, "/sys/block/" + disk + "/size": "209715200\n",
					"/sys/block/" + disk + "/device/type": "0\n", "/run/udev/data/b" + number: "E:ID_WWN=0x5000c500a1b2c3d4\nE:ID_SCSI_SERIAL=Z1\n",
				} {
					h.write(t, path, text)
				}
			}
			job := order(func(r *wire.InstallCmdRequest) { r.SkipInstallationDiskCleanup = true })
			job.Format, job.Request.DisksToFormat = []string{"/dev/sdb"}, []string{"/dev/disk/by-id/wwn-0x2"}
			g.Expect(h.run(t.Context(), job)).To(Succeed(), "a disk that is not formatted fails nothing")
			wiped := slices.DeleteFunc(h.changes(), func(line string) bool { return !strings.HasPrefix(line, "wipefs") })
			g.Expect(len(wiped) > 0).To(Equal(tc.wiped), "%v", wiped)
		})
	}
}

// TestACleanUpThatHangsIsGivenUp: a device that does not answer holds up nothing
// but itself.
func TestACleanUpThatHangsIsGivenUp(t *testing.T) {
	for program, want := range map[string]string{
		"lvm pvs": "", "lvm pvremove": "", "mdadm": "", "wipefs": "",
		"lsblk": "check-disk: lsblk: no end in 5m0s",
	} {
		t.Run(program, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				h := newHost(t)
				h.trees["/dev/sda"] = used
				h.On(program, played.Hangs)
				err := h.run(t.Context(), order(nil))
				if want != "" {
					g.Expect(err).To(MatchError(want))
					return
				}
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(h.Lines()).To(ContainElement(HavePrefix("coreos-installer install")))
			})
		})
	}
}

// TestADiskThatTheNodeSkipsIsNotWritten: whoever chose it at the hub, the node's owner says
// that nobody may touch it.
func TestADiskThatTheNodeSkipsIsNotWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		kept map[string]string
		boot string
		want string
	}{
		"the disk":             {map[string]string{"/dev/sda": "the node skips it"}, "", "check-disk: /dev/sda must stay as it is: the node skips it"},
		"an array on it":       {map[string]string{"/dev/md127": "the node skips it"}, "", "check-disk: /dev/sda is a member of /dev/md127, which must stay as it is: the node skips it"},
		"another disk":         {map[string]string{"/dev/sdz": "the node skips it"}, "", ""},
		"said in another boot": {map[string]string{"/dev/sda": "the node skips it"}, "earlier", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees["/dev/sda"] = used
			boot, err := h.dir.BootID()
			g.Expect(err).NotTo(HaveOccurred())
			if tc.boot != "" {
				boot = tc.boot
			}
			g.Expect(h.dir.Write(hostfile.StepFile, hostfile.StepState{BootID: boot, Kept: tc.kept})).To(Succeed())
			err = h.run(t.Context(), order(nil))
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(tc.want))
			g.Expect(h.changes()).To(BeEmpty())
		})
	}
}
