package systemdtest_test

import (
	"testing"

	. "github.com/onsi/gomega"

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
