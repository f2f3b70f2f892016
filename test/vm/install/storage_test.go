//go:build machine

package install_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
)

// TestMultipathDisk has one disk behind two controllers, with partitions of an earlier
// system on it. The live system's multipathd makes one disk of the paths by the
// configuration of our image. The agent's container has no multipath tools, so it names a
// path: the step writes the multipath disk, and the system runs from it, on both paths.
func TestMultipathDisk(t *testing.T) {
	needs.Program(t, "sfdisk", "fdisk")
	s := newStand(t, "", func(c *vm.Config) {
		c.Disks[0].Paths = 2
		c.Disks = append(c.Disks, vm.Disk{Kind: vm.DiskNVMe, SizeMiB: 5 << 10, Serial: "OTHER1"})
	})
	s.partition(s.machine.DiskPath(0))
	r := s.install(order{
		script: "udevadm settle; lsblk", rootDevice: "/dev/sda", tells: pathsOfRoot,
		properties: map[string]any{"root_device": map[string]any{"wwn": "0x5000c50000000001"}},
	})
	s.Expect(r.Outcome).To(Equal("done"), "%+v", r)
	s.Expect(r.Result.Disk).To(Equal("/dev/mapper/mpatha"))
	s.Expect(r.Result.Why).To(Equal("IPA takes /dev/sda, which is this multipath disk"))
	s.neverWritten(1)
	root, tells := s.installed()
	s.Expect(root).To(HavePrefix("/dev/mapper/mpatha"), "the root is on the multipath disk")
	s.Expect(tells).To(Equal("paths=2"))
}

// pathsOfRoot counts the disks below the multipath disk that holds the root.
const pathsOfRoot = `paths=$$(lsblk --inverse --noheadings --output TYPE $$(findmnt -no SOURCE /) | grep -c disk)`

// TestKeptRAID has a mirror that somebody has made, and that the node skips by its name.
// Its members are byte for byte what they were after the third disk has its system, and
// that system reads from the mirror what was written before.
func TestKeptRAID(t *testing.T) {
	const letter = "what-nobody-may-lose"
	s := newStand(t, "", func(c *vm.Config) {
		for _, n := range []string{"2", "3"} {
			c.Disks = append(c.Disks, vm.Disk{Kind: vm.DiskSCSI, SizeMiB: 1 << 10, Serial: "MEMBER" + n, WWN: "0x5000c5000000000" + n})
		}
	})
	var members []string
	s.before = func() { members = s.digests(1, 2) }
	r := s.install(order{script: makeMirror(letter), tells: letterOfMirror, properties: map[string]any{
		"root_device": map[string]any{"serial": "SYSTEM1"}, "skip_block_devices": []any{map[string]any{"volume_name": mirror}},
	}})
	s.Expect(r.Outcome).To(Equal("done"), "%+v", r)
	s.Expect(r.Result.RemovedRAIDs).To(BeEmpty())
	s.Expect(s.hasTable(s.machine.DiskPath(0))).To(BeTrue())
	s.Expect(s.digests(1, 2)).To(Equal(members), "the step has written to no member")
	root, tells := s.installed()
	s.Expect(root).To(HavePrefix("/dev/sd"))
	s.Expect(tells).To(Equal("letter=" + letter))
	s.Expect(s.digests(1, 2)).To(Equal(members), "the installed system has written to no member")
}

// mirror is the mirror's name for mdadm, and the label of its file system.
const mirror = "kept"

// letterOfMirror reads the file of the mirror's file system, which has no journal, and writes nothing.
const letterOfMirror = `letter=$$(for i in {1..60}; do [ -e /dev/disk/by-label/` + mirror + ` ] && break; sleep 1; done; ` +
	`mkdir -p /run/kept && mount -o ro /dev/disk/by-label/` + mirror + ` /run/kept && cat /run/kept/letter)`

// makeMirror makes the mirror with a file on it, and starts it anew as a boot does: an
// array that nobody has written to since is not written by the kernel either.
func makeMirror(letter string) string {
	const array = "/dev/md/" + mirror
	return strings.Join([]string{
		"udevadm settle",
		"mdadm --create " + array + " --run --level=1 --raid-devices=2 --homehost=any --name=" + mirror + " /dev/disk/by-id/wwn-0x5000c50000000002 /dev/disk/by-id/wwn-0x5000c50000000003",
		"mdadm --wait " + array + " || true",
		"mke2fs -q -t ext2 -L " + mirror + " " + array,
		"mkdir -p /run/kept",
		"mount " + array + " /run/kept",
		"echo " + letter + " >/run/kept/letter",
		"umount /run/kept",
		"mdadm --stop " + array,
		"udevadm settle",
		"[ -e " + array + " ] || mdadm --assemble --scan || true", // udev may be faster
		"udevadm settle",
		"[ -e /dev/disk/by-label/" + mirror + " ]",
		"sync",
		"cat /proc/mdstat",
	}, "\n")
}

// partition gives a disk of this computer the partitions of an earlier system.
func (s *stand) partition(path string) {
	s.t.Helper()
	table := exec.CommandContext(s.t.Context(), "sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", path)
	table.Stdin = strings.NewReader("label: gpt\nstart=2048, size=2097152, type=linux\ntype=linux\n")
	said, err := table.CombinedOutput()
	s.Expect(err).NotTo(HaveOccurred(), "%s", said)
}

// digests are those of disks, by their numbers.
func (s *stand) digests(disks ...int) []string {
	s.t.Helper()
	var all []string
	for _, n := range disks {
		file, err := os.Open(s.machine.DiskPath(n))
		s.Expect(err).NotTo(HaveOccurred())
		sum := sha256.New()
		_, err = io.Copy(sum, file)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(file.Close()).To(Succeed())
		all = append(all, hex.EncodeToString(sum.Sum(nil)))
	}
	return all
}
