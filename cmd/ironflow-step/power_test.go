package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// TestPoweroffAndRebootEndTheHost: ironic-python-agent runs programs of these names
// in its container, of which the host's systemd has to hear.
func TestPoweroffAndRebootEndTheHost(t *testing.T) {
	for _, name := range []string{"poweroff", "reboot"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host := systemdtest.Boot(t)
			link := filepath.Join(t.TempDir(), name)
			g.Expect(os.Symlink(systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step"), link)).To(Succeed())
			order := exec.CommandContext(t.Context(), link)
			order.Env = []string{sdbus.AddressEnv + "=" + host.Bus()}
			said, err := order.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), "%s", said)
			g.Eventually(func() error { _, err := os.Stat(host.Host.Root); return err }, patience).Should(MatchError(os.ErrNotExist))
		})
	}
}

// TestPoweroffSaysThatNobodyHears: only a failure makes IPA fall back on the
// kernel's own way.
func TestPoweroffSaysThatNobodyHears(t *testing.T) {
	g := NewWithT(t)
	link := filepath.Join(t.TempDir(), "poweroff")
	g.Expect(os.Symlink(systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step"), link)).To(Succeed())
	order := exec.CommandContext(t.Context(), link)
	order.Env = []string{sdbus.AddressEnv + "=unix:path=" + filepath.Join(t.TempDir(), "bus")}
	said, err := order.CombinedOutput()
	g.Expect(err).To(HaveOccurred())
	g.Expect(order.ProcessState.ExitCode()).To(Equal(1))
	g.Expect(string(said)).To(ContainSubstring("have systemd start poweroff.target"))
}
