//go:build e2e

package programs

import (
	"os"
	"os/exec"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/espdisk"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// TestASecondBootInAGuest runs TestASecondBootWithARealPartition in a guest with Debian's kernel,
// with this same binary.
func TestASecondBootInAGuest(t *testing.T) {
	if espdisk.Has() {
		t.Skip("this kernel has FAT, so TestASecondBootWithARealPartition runs here")
	}
	systemdtest.Need(t)
	console := espdisk.Run(t, "TestASecondBootWithARealPartition", 2048)
	NewWithT(t).Expect(console).To(ContainSubstring("--- PASS: TestASecondBootWithARealPartition"), "it has run")
}

// bootsWith boots a host that has the disk, and the live system's udev, which is this computer's.
func bootsWith(t *testing.T, disk string) *edgeHost {
	t.Helper()
	h := newEdgeHost(t)
	h.write(places.ServiceSettings+"/assisted-service.env", "INFRA_ENV_ID=11111111-1111-4111-8111-111111111111\n")
	h.Run(t, "mount", "-t", "tmpfs", "firmware", "/sys/class/dmi/id")
	h.write("/sys/class/dmi/id/board_serial", "SER-1\n")
	for _, device := range []string{disk, disk + "p1"} {
		var node unix.Stat_t
		h.Expect(unix.Stat(device, &node)).To(Succeed())
		h.Expect(unix.Mknod(h.Host.Path(device), unix.S_IFBLK|0o600, int(node.Rdev))).To(Succeed())
	}
	h.Expect(os.MkdirAll(h.Host.Path("/run/udev"), 0o755)).To(Succeed())
	h.binds("/run/udev", "/run/udev")
	h.gets("192.0.2.1/24")
	return h
}

// binds shows a file or folder of this computer in the machine.
func (h *edgeHost) binds(from, to string) {
	h.t.Helper()
	beside, root := h.Beside()
	out, err := exec.CommandContext(h.t.Context(), beside[0], append(beside[1:], "mount", "--bind", from, root+to)...).CombinedOutput()
	h.Expect(err).NotTo(HaveOccurred(), "%s", out)
}

// TestASecondBootWithARealPartition: a host leaves its record on a real FAT partition, loses its
// power, and boots the image once more, and once more with the argument of a person.
func TestASecondBootWithARealPartition(t *testing.T) {
	espdisk.Need(t, "TestASecondBootInAGuest")
	disk, _ := espdisk.Attach(t, espdisk.Content(t, []byte("the loader")))
	begins := func(h *edgeHost) {
		h.Run(t, "systemctl", "start", "--no-block", units.RunAgain)
		h.waits(h.shows(units.HubUnit, "ActiveState")).Should(Equal("ActiveState=active"), h.journal)
		h.Expect(h.Host.Path("/etc/motd.d/60_installed")).NotTo(BeAnExistingFile())
	}
	first := bootsWith(t, disk)
	begins(first)
	first.Run(t, "env", "BE_LEAVE_RECORD="+disk, units.Binary)
	first.Kill()

	second := bootsWith(t, disk)
	second.Run(t, "systemctl", "start", "--no-block", units.RunAgain)
	second.waits(func() string {
		out, _ := second.Command(t.Context(), "cat", "/etc/motd.d/60_installed").CombinedOutput() // it is not there at once
		return string(out)
	}).Should(MatchRegexp(`^This host was installed by this image at \S+Z, to /dev/disk/by-id/wwn-0x1, and does not begin again: set its boot order to that disk\.`), second.journal)
	for _, unit := range []string{units.HubUnit, hostfile.AgentUnit} {
		second.Expect(second.shows(unit, "ActiveState")()).To(Equal("ActiveState=inactive"), unit)
	}
	mounts := second.Run(t, "cat", "/proc/mounts")
	second.Expect(mounts).NotTo(ContainSubstring(disk), "the partition is left as it was")
	second.Kill()

	again := bootsWith(t, disk)
	file := t.TempDir() + "/cmdline"
	again.Expect(os.WriteFile(file, []byte("quiet "+installed.Again+"\n"), 0o600)).To(Succeed())
	again.binds(file, "/proc/cmdline")
	begins(again)
}
