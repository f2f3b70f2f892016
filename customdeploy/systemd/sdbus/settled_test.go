package sdbus_test

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/customdeploy/systemd/systemdtest"
)

// TestStartWhoseResultIsLost: the bus is restarted while the start job still waits
// for another unit. The inactive unit is not the job's result.
func TestStartWhoseResultIsLost(t *testing.T) {
	m := systemdtest.Boot(t)
	g := NewWithT(t)
	for name, text := range map[string]string{
		"slow.service": "[Service]\nType=oneshot\nExecStart=/bin/sleep 4\n",
		"late.service": "[Unit]\nWants=slow.service\nAfter=slow.service\n[Service]\nExecStart=/bin/sleep 60\n",
	} {
		g.Expect(os.WriteFile(m.Host.Path(hostfile.UnitDir+"/"+name), []byte(text), 0o600)).To(Succeed())
	}
	m.Run(t, "systemctl", "daemon-reload")
	units := m.Units(t)
	type answer struct {
		result string
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		result, err := units.Start(t.Context(), "late.service")
		answers <- answer{result, err}
	}()
	jobs := func() string { return m.Run(t, "systemctl", "list-jobs", "--no-legend") }
	g.Eventually(jobs, 20*time.Second).Should(ContainSubstring("late.service"))
	m.Run(t, "systemctl", "restart", "dbus.service")
	var a answer
	g.Eventually(answers, 60*time.Second).Should(Receive(&a))
	g.Expect(a.err).NotTo(HaveOccurred())
	g.Expect(a.result).To(Equal(systemd.JobDone))
	unit, err := units.Unit(t.Context(), "late.service")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(unit.ActiveState).To(Equal("active"), "the job was not done before")
}
