package writable_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/writable"
	"github.com/ironflow/ironflow/test/played"
)

// paths are four disks by lsblk: two paths to one LUN, another LUN of the same array, and
// a disk of the host's own.
const paths = `{"blockdevices": [
	{"kname": "sda", "path": "/dev/sda", "type": "disk", "maj:min": "8:0"}, {"kname": "sdb", "path": "/dev/sdb", "type": "disk", "maj:min": "8:16"%s},
	{"kname": "sdc", "path": "/dev/sdc", "type": "disk", "maj:min": "8:32"}, {"kname": "sdd", "path": "/dev/sdd", "type": "disk", "maj:min": "8:48"}]}`

// lun is what udev knows of a LUN. Its short name is the array's rather than its own.
const lun = "E:ID_WWN=0x6000097000019790\nE:ID_WWN_WITH_EXTENSION=0x60000970000197900123533030303%s\nE:ID_SCSI_SERIAL=000197900123%s\n"

// withPaths writes what kernel and udev say of the disks.
func withPaths(t *testing.T, udev map[string]string) hostfile.Dir {
	t.Helper()
	dir := hostfile.Dir{Root: t.TempDir()}
	played.Write(t, dir, "/proc/1/mountinfo", "")
	for n, name := range []string{"sda", "sdb", "sdc", "sdd"} {
		number := fmt.Sprintf("8:%d", 16*n)
		for _, class := range []string{"/sys/block", "/sys/class/block"} {
			played.Write(t, dir, filepath.Join(class, name, "dev"), number+"\n")
		}
		played.Write(t, dir, "/sys/block/"+name+"/size", "209715200\n")
		played.Write(t, dir, "/sys/block/"+name+"/device/type", "0\n")
		played.Write(t, dir, "/run/udev/data/b"+number, udev[name])
	}
	return dir
}

// look asks for the whole host, or like the agent for one disk.
func look(t *testing.T, dir hostfile.Dir, tree string, disks ...string) *writable.Host {
	t.Helper()
	host, err := writable.Look(t.Context(), func(_ context.Context, _ []string, line func(string)) error { line(tree); return nil }, dir, disks...)
	if err != nil {
		t.Fatal(err)
	}
	return host
}

var san = map[string]string{
	"sda": fmt.Sprintf(lun, "030", "1"), "sdb": fmt.Sprintf(lun, "030", "1"), "sdc": fmt.Sprintf(lun, "031", "2"),
	"sdd": "E:ID_WWN=0x5000c50\nE:ID_SERIAL_SHORT=Z1\n",
}

// TestTwoPathsAreOneDisk, also where nobody has made a multipath disk of them: what is in
// use by the one path, or must stay, is not written by the other.
func TestTwoPathsAreOneDisk(t *testing.T) {
	for name, tc := range map[string]struct {
		// on is what lies on sdb, mounts what is mounted, keep what must stay.
		on, mounts, keep string
		want             string
	}{
		"nothing on either":     {},
		"the other is mounted":  {mounts: "23 1 8:16 / /data rw - xfs /dev/sdb rw\n", want: "/dev/sda is the same disk as /dev/sdb (one LUN, two paths): /dev/sdb is in use: /dev/sdb is mounted on /data"},
		"the other must stay":   {keep: "/dev/sdb", want: "/dev/sdb must stay as it is: the node skips it"},
		"an array on the other": {on: `, "children": [{"kname": "md0", "path": "/dev/md0", "type": "raid1", "maj:min": "9:0"}]`, keep: "/dev/md0", want: "/dev/sdb is a member of /dev/md0, which must stay"},
		"another LUN":           {mounts: "23 1 8:32 / /data rw - xfs /dev/sdc rw\n"},
		"a map that lacks one": {
			on:   `, "children": [{"kname": "dm-0", "path": "/dev/mapper/mpatha", "type": "mpath", "maj:min": "253:0"}]`,
			want: "/dev/sdb is one path of the multipath disk /dev/mapper/mpatha",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := withPaths(t, san)
			played.Write(t, dir, "/proc/1/mountinfo", tc.mounts)
			host := look(t, dir, fmt.Sprintf(paths, tc.on))
			if tc.keep != "" {
				host.Keep(tc.keep, "the node skips it")
			}
			g.Expect(host.Twins("/dev/sda")).To(Equal([]string{"/dev/sdb"}))
			g.Expect(host.Refusal("/dev/sdd")).To(Succeed())
			err := host.Refusal("/dev/sda")
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// arrayOnSdb is a RAID that only the one path shows.
var arrayOnSdb = map[string]string{"/sys/block/sdb/sdb1/partition": "1\n", "/sys/block/sdb/sdb1/holders/md0/x": "", "/sys/block/md0/dev": "9:0\n", "/sys/class/block/md0/dev": "9:0\n"}

// TestPathsBesideTheOneThatWasAskedFor: the agent has lsblk look at the disk of its order alone.
func TestPathsBesideTheOneThatWasAskedFor(t *testing.T) {
	const one = `{"blockdevices": [{"kname": "sda", "path": "/dev/sda", "type": "disk", "maj:min": "8:0"}]}`
	for name, files := range map[string]map[string]string{
		"/dev/sdb is in use: something of it is mounted on /data": {"/proc/1/mountinfo": "23 1 8:16 / /data rw - xfs /dev/sdb rw\n"},
		"/dev/sdb is one path of the multipath disk /dev/mapper/mpatha": {
			"/sys/block/sdb/holders/dm-0/x": "", "/sys/block/dm-0/dm/uuid": "mpath-36000097\n", "/sys/block/dm-0/dm/name": "mpatha\n",
		},
		"/dev/sda is the same disk as /dev/sdb (one LUN, two paths): /dev/md0 must stay as it is: the node skips it": arrayOnSdb,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := withPaths(t, san)
			for path, text := range files {
				played.Write(t, dir, path, text)
			}
			host := look(t, dir, one, "/dev/sda")
			host.Keep("/dev/md0", "the node skips it")
			err := host.Refusal("/dev/sda")
			g.Expect(err).To(MatchError(ContainSubstring(name)))
			_, isPath := errors.AsType[*writable.PathError](err)
			g.Expect(isPath).To(Equal(files["/sys/block/dm-0/dm/uuid"] != ""))
		})
	}
}

// TestAMultipathDiskHasPathsBesideIt: one that is mounted cannot join the map, and is the
// same disk all the same; its members are no others.
func TestAMultipathDiskHasPathsBesideIt(t *testing.T) {
	g := NewWithT(t)
	dir := withPaths(t, san)
	for path, text := range map[string]string{
		"/sys/block/dm-0/dm/uuid": "mpath-36000097\n", "/sys/block/dm-0/slaves/sda/x": "", "/proc/1/mountinfo": "23 1 8:16 / /data rw - xfs /dev/sdb rw\n",
	} {
		played.Write(t, dir, path, text)
	}
	host := look(
		t,
		dir,
		`{"blockdevices": [{"kname": "sda", "path": "/dev/sda", "type": "disk", "maj:min": "8:0", "children": [{"kname": "dm-0", "path": "/dev/mapper/mpatha", "type": "mpath", "maj:min": "253:0"}]},
		{"kname": "sdb", "path": "/dev/sdb", "type": "disk", "maj:min": "8:16"}]}`,
	)
	g.Expect(host.Twins("/dev/mapper/mpatha")).To(Equal([]string{"/dev/sdb"}))
	g.Expect(host.Refusal("/dev/mapper/mpatha")).To(MatchError(ContainSubstring("/dev/sdb is mounted on /data")))
}

// TestNamesThatProveNothing: makers of cheap disks give all of them one name.
func TestNamesThatProveNothing(t *testing.T) {
	for name, text := range map[string]string{
		"no name": "E:ID_SERIAL=000000000001\n", "nothing but zeroes": "E:ID_WWN=eui.0000000000000000\nE:ID_SERIAL_SHORT=1\n", "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			host := look(t, withPaths(t, map[string]string{"sda": text, "sdb": text}), fmt.Sprintf(paths, ""))
			NewWithT(t).Expect(host.Twins("/dev/sda")).To(BeEmpty())
		})
	}
	t.Run("another serial number", func(t *testing.T) {
		name := "E:ID_WWN=eui.0011223344556677\nE:ID_SERIAL_SHORT="
		host := look(t, withPaths(t, map[string]string{"sda": name + "1\n", "sdb": name + "2\n"}), fmt.Sprintf(paths, ""))
		NewWithT(t).Expect(host.Twins("/dev/sda")).To(BeEmpty())
	})
}

// TestOtherPaths: whoever writes to a disk without lsblk, as the measuring of its speed
// does, writes to all of its paths.
func TestOtherPaths(t *testing.T) {
	g := NewWithT(t)
	dir := withPaths(t, san)
	g.Expect(writable.OtherPaths(dir, "/dev/sda")).To(Succeed())
	played.Write(t, dir, "/proc/1/mountinfo", "23 1 8:16 / /data rw - xfs /dev/sdb rw\n")
	g.Expect(writable.OtherPaths(dir, "/dev/sda")).To(MatchError("/dev/sda is the same disk as /dev/sdb (one LUN, two paths): /dev/sdb is in use: something of it is mounted on /data"))
	g.Expect(writable.OtherPaths(dir, "/dev/sdc")).To(Succeed())
	for path, text := range map[string]string{"/sys/block/sdc/holders/dm-0/x": "", "/sys/block/dm-0/dm/uuid": "mpath-36000097\n", "/sys/block/dm-0/dm/name": "mpatha\n"} {
		played.Write(t, dir, path, text)
	}
	g.Expect(writable.OtherPaths(dir, "/dev/sdc")).To(MatchError("/dev/sdc is one path of the multipath disk /dev/mapper/mpatha"))
}

// TestWhatTheNodeSkipsByAnotherPath: an array that must stay is destroyed by the path that
// does not show it, too, whoever writes there.
func TestWhatTheNodeSkipsByAnotherPath(t *testing.T) {
	g := NewWithT(t)
	dir := withPaths(t, san)
	played.Write(t, dir, hostfile.BootIDPath(), "boot-1\n")
	for path, text := range arrayOnSdb {
		played.Write(t, dir, path, text)
	}
	g.Expect(writable.Spared(dir, "/dev/sda")).To(Succeed())
	g.Expect(dir.Write(hostfile.StepFile, hostfile.StepState{BootID: "boot-1", Kept: map[string]string{"/dev/md0": "the node skips it"}})).To(Succeed())
	const want = "/dev/sda is the same disk as /dev/sdb (one LUN, two paths): /dev/md0 must stay as it is: the node skips it"
	g.Expect(writable.Spared(dir, "/dev/sda")).To(MatchError(want))
	g.Expect(writable.OtherPaths(dir, "/dev/sda")).To(MatchError(want))
	g.Expect(writable.Spared(dir, "/dev/sdb")).To(MatchError(ContainSubstring("/dev/md0 must stay as it is")))
	g.Expect(errors.Join(writable.Spared(dir, "/dev/sdc"), writable.OtherPaths(dir, "/dev/sdc"))).To(Succeed())
}
