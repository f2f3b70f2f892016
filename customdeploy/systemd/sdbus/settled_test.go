package sdbus_test

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
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

// TestFrozenRealSystemd: process 1 is stopped while its unit is followed.
func TestFrozenRealSystemd(t *testing.T) {
	m := systemdtest.Boot(t)
	g := NewWithT(t)
	g.Expect(os.WriteFile(m.Host.Path(hostfile.UnitDir+"/still.service"), []byte("[Service]\nExecStart=/bin/sleep 600\n"), 0o600)).To(Succeed())
	m.Run(t, "systemctl", "daemon-reload")
	units := m.Units(t)
	g.Expect(units.Start(t.Context(), "still.service")).To(Equal(systemd.JobDone))
	units.Hurry(5 * time.Second)
	updates, err := units.Follow(t.Context(), "still.service")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect((<-updates).Unit.ActiveState).To(Equal("active"))
	m.Freeze(t)
	var up systemd.Update
	g.Eventually(updates, 60*time.Second).Should(Receive(&up))
	g.Expect(up.Err).To(MatchError(ContainSubstring("no answer from systemd")))
	_, err = units.Unit(t.Context(), "still.service")
	g.Expect(err).To(MatchError(ContainSubstring("no answer from systemd")))
	_, err = units.Stop(t.Context(), "still.service")
	g.Expect(err).To(MatchError(ContainSubstring("no answer from systemd")))
	m.Thaw()
	g.Expect(units.Stop(t.Context(), "still.service")).To(Equal(systemd.JobDone), "systemd goes on")
}
