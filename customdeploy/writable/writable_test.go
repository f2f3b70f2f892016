package writable_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/writable"
	"github.com/ironflow/ironflow/test/played"
)

// machine has two paths to one disk, a RAID over two disks, LVM on a disk, and an
// empty one.
const machine = `{"blockdevices": [
	{"kname": "sda", "path": "/dev/sda", "type": "disk", "maj:min": "8:0", "children": [
		{"kname": "dm-0", "path": "/dev/mapper/mpatha", "type": "mpath", "maj:min": "253:0", "children": [
			{"kname": "dm-1", "path": "/dev/mapper/mpatha1", "type": "part", "maj:min": "253:1"}]}]},
	{"kname": "sdb", "path": "/dev/sdb", "type": "disk", "maj:min": "8:16", "children": [
		{"kname": "dm-0", "path": "/dev/mapper/mpatha", "type": "mpath", "maj:min": "253:0"}]},
	{"kname": "sdc", "path": "/dev/sdc", "type": "disk", "maj:min": "8:32", "children": [
		{"kname": "sdc1", "path": "/dev/sdc1", "type": "part", "maj:min": "8:33", "children": [
			{"kname": "md0", "path": "/dev/md0", "type": "raid1", "maj:min": "9:0"}]}]},
	{"kname": "sdd", "path": "/dev/sdd", "type": "disk", "maj:min": "8:48", "children": [
		{"kname": "dm-2", "path": "/dev/mapper/vg0-root", "type": "lvm", "maj:min": "253:2"}]},
	{"kname": "sde", "path": "/dev/sde", "type": "disk", "maj:min": "8:64"},
	{"kname": "sr0", "path": "/dev/sr0", "type": "rom", "maj:min": "11:0"}]}`

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		disk   string
		mounts string
		files  map[string]string
		keep   map[string]string
		want   string
	}{
		"an empty disk":          {disk: "/dev/sde"},
		"one that lsblk hides":   {disk: "/dev/vda", want: "/dev/vda may not be written: lsblk does not show it"},
		"a multipath disk":       {disk: "/dev/mapper/mpatha"},
		"a member of a RAID":     {disk: "/dev/sdc"},
		"a path":                 {disk: "/dev/sdb", want: "/dev/sdb is one path of the multipath disk /dev/mapper/mpatha"},
		"a partition":            {disk: "/dev/sdc1", want: "/dev/sdc1 is no whole disk, its type is part"},
		"a volume":               {disk: "/dev/mapper/vg0-root", want: "is no whole disk, its type is lvm"},
		"an optical drive":       {disk: "/dev/sr0", want: "/dev/sr0 is no whole disk, its type is rom"},
		"a disk that stays":      {disk: "/dev/sde", keep: map[string]string{"/dev/sde": "the node skips it"}, want: "/dev/sde must stay as it is: the node skips it"},
		"a member of what stays": {disk: "/dev/sdc", keep: map[string]string{"/dev/md0": "arrays are kept"}, want: "/dev/sdc is a member of /dev/md0, which must stay as it is: arrays are kept"},
		"mounted by number":      {disk: "/dev/sdd", mounts: "23 1 253:2 / /sysroot rw - xfs /dev/root rw\n", want: "/dev/sdd is in use: /dev/mapper/vg0-root is mounted on /sysroot"},
		"mounted by name": {
			disk: "/dev/mapper/mpatha", mounts: "23 1 0:31 / /data rw - btrfs /dev/mapper/mpatha1 rw\n",
			want: "/dev/mapper/mpatha is in use: /dev/mapper/mpatha1 is mounted on /data",
		},
		"another one is mounted": {disk: "/dev/sde", mounts: "23 1 253:2 / /sysroot rw - xfs /dev/root rw\n"},
		"swap on a multipath disk": {disk: "/dev/mapper/mpatha", files: map[string]string{
			"/proc/swaps": "Filename Type Size Used Priority\n/dev/dm-0 partition 1 0 -2\n", "/sys/block/dm-0/dev": "253:0\n", "/sys/class/block/dm-0/dev": "253:0\n",
		}, want: "/dev/mapper/mpatha is in use: something of it is mounted on [SWAP]"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := hostfile.Dir{Root: t.TempDir()}
			played.Write(t, dir, "/proc/1/mountinfo", "22 1 0:21 / /run rw - tmpfs tmpfs rw\n"+tc.mounts)
			for path, text := range tc.files {
				played.Write(t, dir, path, text)
			}
			host, err := writable.Look(t.Context(), func(_ context.Context, _ []string, line func(string)) error { line(machine); return nil }, dir)
			g.Expect(err).NotTo(HaveOccurred())
			for path, why := range tc.keep {
				host.Keep(path, why)
			}
			err = host.Refusal(tc.disk)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			_, isPath := errors.AsType[*writable.PathError](err)
			g.Expect(isPath).To(Equal(name == "a path"))
		})
	}
}
