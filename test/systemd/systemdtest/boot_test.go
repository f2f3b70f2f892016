package systemdtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

func TestBootedMachine(t *testing.T) {
	g := NewWithT(t)
	m := systemdtest.Boot(t)
	g.Expect(m.Host.BootID()).To(Equal(m.BootID))
	g.Expect(m.Run(t, "cat", "/proc/1/comm")).To(Equal("systemd"))
	g.Expect(m.Run(t, "systemctl", "--failed", "--no-legend")).To(BeEmpty())
	units := m.Units(t)
	p, err := units.Unit(t.Context(), "dbus.service")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.ActiveState).To(Equal("active"))
	lines, err := units.Journal(t.Context(), "dbus.service", "", 5)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lines).NotTo(BeEmpty())
}

// TestUdevOfAMachine has what is plugged into it, and no other device; systemd starts what a rule wants for it.
func TestUdevOfAMachine(t *testing.T) {
	g := NewWithT(t)
	systemdtest.Need(t)
	file := filepath.Join(t.TempDir(), "medium")
	g.Expect(os.WriteFile(file, make([]byte, 1<<20), 0o600)).To(Succeed())
	g.Expect(exec.CommandContext(t.Context(), needs.Program(t, "mkfs.ext4", "e2fsprogs"), "-q", "-L", "plugged", file).Run()).To(Succeed())
	device := needs.LoopDevice(t, file)
	m, other := systemdtest.BootWithUdev(t), systemdtest.BootWithUdev(t)
	for _, m := range []*systemdtest.Machine{m, other} {
		g.Expect(m.Run(t, "systemctl", "is-active", "systemd-udevd.service")).To(Equal("active"))
		for path, text := range map[string]string{
			"/etc/udev/rules.d/80-test.rules":     `ACTION=="add|change", SUBSYSTEM=="block", ENV{ID_FS_LABEL}=="plugged", TAG+="systemd", ENV{SYSTEMD_WANTS}+="wanted@$devnode.service"`,
			hostfile.UnitDir + "/wanted@.service": "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/touch /run/wanted\n",
		} {
			g.Expect(os.WriteFile(m.Host.Path(path), []byte(text+"\n"), 0o644)).To(Succeed())
		}
		m.Run(t, "systemctl", "daemon-reload")
		m.Run(t, "udevadm", "control", "--reload")
		out, err := m.Command(t.Context(), "sh", "-c", "echo add >/sys/class/block/"+filepath.Base(device)+"/uevent").CombinedOutput()
		g.Expect(err).To(HaveOccurred(), "nothing of this computer is changed: %s", out)
	}
	m.Plug(t, device)
	g.Eventually(m.Host.Path("/run/wanted"), time.Minute).Should(BeAnExistingFile())
	g.Expect(other.Host.Path("/run/wanted")).NotTo(BeAnExistingFile())
}
