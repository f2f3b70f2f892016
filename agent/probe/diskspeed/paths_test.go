package diskspeed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/played"
)

// TestAPathOfAMultipathDiskIsNotMeasured: what is written to it is written to the disk,
// behind the back of the one who has it mounted.
func TestAPathOfAMultipathDiskIsNotMeasured(t *testing.T) {
	g := NewWithT(t)
	loop, name := loopDevice(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	for path, text := range map[string]string{
		"/proc/1/mountinfo": "", "/proc/self/mountinfo": "", "/sys/block/" + name + "/dev": "8:0\n",
		"/sys/block/" + name + "/holders/dm-0/x": "", "/sys/block/dm-0/dm/uuid": "mpath-36000097\n", "/sys/block/dm-0/dm/name": "mpatha\n",
	} {
		played.Write(t, dir, path, text)
	}
	g.Expect(checkDevice(dir, loop)).To(MatchError(loop + " is one path of the multipath disk /dev/mapper/mpatha"))
}

// TestADiskThatTheNodeSkipsIsNotMeasured: its beginning would be overwritten.
func TestADiskThatTheNodeSkipsIsNotMeasured(t *testing.T) {
	g := NewWithT(t)
	loop, name := loopDevice(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	for path, text := range map[string]string{
		"/proc/1/mountinfo": "", "/proc/self/mountinfo": "", "/sys/block/" + name + "/dev": "8:0\n", "/sys/class/block/" + name + "/dev": "8:0\n",
		hostfile.BootIDPath(): "boot-1\n",
	} {
		played.Write(t, dir, path, text)
	}
	g.Expect(checkDevice(dir, loop)).To(Succeed())
	g.Expect(dir.Write(hostfile.StepFile, hostfile.StepState{BootID: "boot-1", Kept: map[string]string{loop: "the node skips it"}})).To(Succeed())
	g.Expect(checkDevice(dir, loop)).To(MatchError(ContainSubstring(loop + " must stay as it is: the node skips it")))
}

// loopDevice is a block device of this computer, and its name.
func loopDevice(t *testing.T) (device, name string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a loop device needs root")
	}
	losetup := needs.Program(t, "losetup", "mount")
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "disk")
	g.Expect(os.WriteFile(file, make([]byte, 1<<20), 0o600)).To(Succeed())
	out, err := exec.CommandContext(t.Context(), losetup, "--find", "--show", file).Output()
	g.Expect(err).NotTo(HaveOccurred())
	device = strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command(losetup, "--detach", device).Run() }) // after the test's context
	return device, filepath.Base(device)
}
