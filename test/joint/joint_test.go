//go:build e2e

package joint_test

import (
	"os"
	"strings"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/livesystem"
)

// long is an installation that a test ends, one way or the other.
const long = 10 * time.Minute

// Limits of the figures, from the agent's exit. They hold where nothing else
// runs and are therefore checked only when they are asked for.
const (
	benchEnv       = "IRONFLOW_BENCH"
	nextStepWithin = time.Second
	failedWithin   = 6 * time.Second
)

// figure prints a measured time, and holds it against its limit in a bench.
func figure(t *testing.T, name string, took, limit time.Duration) {
	t.Helper()
	t.Logf(`figures: {"%s": %.2f}`, name, took.Seconds())
	if os.Getenv(benchEnv) != "" {
		NewWithT(t).Expect(took).To(BeNumerically("<=", limit), name)
	}
}

func TestJoint(t *testing.T) {
	w := newWorld(t)
	for number, c := range []struct {
		name string
		run  func(t *testing.T, m *machine)
		// change is made before the machine is.
		change func(*machine)
	}{
		{"inspected and installed", inspectedAndInstalled, nil},
		{"failed installation", failedInstallation, failsAtWriting},
		{"deprovisioned in mid step", deprovisioned, lasts(long)},
		{"machine restarted in mid step", machineRestarted, lasts(long)},
		{"IPA restarted in mid step", ipaRestarted, lasts(time.Minute)},
		{"cancelled in the hub", cancelledInTheHub, lasts(long)},
		{"a disk is written", diskWritten, realDisk(t, "")},
		{"a disk fails", diskFails, realDisk(t, "size=48m")},
		{"stock plugin installs", stockInstalled, stock},
		{"stock plugin fails", stockFailed, func(m *machine) { stock(m); failsAtWriting(m) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting for Ironic
			c.run(t, w.machine(t, number, c.change))
		})
	}
}

func lasts(d time.Duration) func(*machine) {
	return func(m *machine) { m.scenario.Install.Stages[writing] = duration(d) }
}

// realDisk makes the agent write a loop device. With options its file lies on a
// file system of its own, which is full before the image is written: the kernel
// here has no device-mapper whose error target could do that.
func realDisk(t *testing.T, options string) func(*machine) {
	dir := t.TempDir()
	if options != "" && os.Geteuid() == 0 {
		NewWithT(t).Expect(unix.Mount("small", dir, "tmpfs", 0, options)).To(Succeed())
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	}
	return func(m *machine) { m.disk = &livesystem.Disk{Bytes: 10 << 30, Dir: dir} }
}

// diskWritten: what is on the disk then is looked at in test/installer.
func diskWritten(t *testing.T, m *machine) {
	m.deploy(t)
	m.untilProvisioned(t)
}

// diskFails: what coreos-installer says of the disk is on the host that the user sees.
func diskFails(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.deploy(t)
	text := m.untilFailed(t)
	g.Expect(text).To(HavePrefix(names.StartAssistedInstall + ` failed: installation failed at "` + writing + `"`))
	g.Expect(text).To(ContainSubstring("coreos-installer: Input/output error (os error 5)"))
}

const diskError = "input/output error at sector 4711"

func failsAtWriting(m *machine) {
	m.scenario.Faults = []scenario.Fault{{Kind: scenario.FaultInstall, Stage: writing, Text: diskError}}
}

func stock(m *machine) { m.stock = true }

func inspectedAndInstalled(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.create(t, metal3.InspectionModeAgent)
	g.Expect(m.host(t).Status.HardwareDetails.NIC).To(ContainElement(HaveField("MAC", m.mac())), "IPA's inventory")
	m.install(t)
	e := m.afterAgent(t, func(n node) bool { return n.step() == names.ConfirmInstall })
	figure(t, "exit_to_next_step_s", e.after, nextStepWithin)
	m.untilProvisioned(t)
	g.Expect(string(m.view(t).Stage)).To(Equal("Rebooting"))
}

func failedInstallation(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.deploy(t)
	e := m.afterAgent(t, func(n node) bool { return n.State == "deploy failed" })
	figure(t, "exit_to_deploy_failed_s", e.after, failedWithin)
	// Ironic's own clean-up erases last_error after 0.3 s, so it may have come and gone between two looks; the history below keeps it.
	g.Expect(e.lastErrors).To(Or(BeEmpty(), ContainElement(ContainSubstring(diskError))), "last_error")
	text := m.untilFailed(t)
	g.Expect(text).To(HavePrefix(names.StartAssistedInstall + ` failed: installation failed at "` + writing + `"`))
	g.Expect(text).To(ContainSubstring(diskError))
	id := m.host(t).Status.Provisioning.ID
	history, err := m.world.gateway.FailureReason(t.Context(), id, time.Now().Add(-patience))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(history).To(ContainSubstring(diskError))
}

func deprovisioned(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.deploy(t)
	m.untilWriting(t)
	m.edit(t, func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
	m.until(t, "given back", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateAvailable })
	g.Expect(m.node(t).State).To(Equal("available"))
	g.Expect(m.host(t).Status.ErrorMessage).To(BeEmpty())
}

// machineRestarted takes the power away in mid step. The fresh IPA gets no token
// and is silent: the host controller notices, and has the node rebooted by Ironic.
func machineRestarted(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.deploy(t)
	m.untilWriting(t)
	m.cycle()
	g.Expect(m.untilFailed(t)).To(And(HavePrefix(names.ConfirmInstall+" failed: "), ContainSubstring("the machine was restarted during the installation")))
}

// ipaRestarted ends IPA alone: the agent goes on, and Ironic's next step, which
// runs in the fresh IPA, follows it to its end.
func ipaRestarted(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.deploy(t)
	m.untilWriting(t)
	pid := m.agentPID(t)
	m.restartIPA()
	m.untilStep(t, names.ConfirmInstall)
	g.Expect(m.agentPID(t)).To(Equal(pid), "the agent goes on")
	m.untilProvisioned(t)
	g.Expect(m.view(t).Attempts).To(Equal(1))
}

func (m *machine) agentPID(t *testing.T) string {
	t.Helper()
	pid := m.running().Run(t, "systemctl", "show", "--property=MainPID", "--value", hostfile.AgentUnit)
	NewWithT(t).Expect(pid).NotTo(Equal("0"), "the agent runs")
	return pid
}

// cancelledInTheHub ends the installation from the hub's side: the step's own
// reason is what the host shows.
func cancelledInTheHub(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.deploy(t)
	m.untilWriting(t)
	_, err := m.world.hub.CancelInstallation(t.Context(), m.view(t).ClusterID)
	g.Expect(err).NotTo(HaveOccurred())
	text := m.untilFailed(t)
	g.Expect(strings.ToLower(text)).To(And(HavePrefix(names.StartAssistedInstall+" failed: "), ContainSubstring("cancelled"), ContainSubstring("hub")))
}

func stockInstalled(t *testing.T, m *machine) {
	m.deploy(t)
	m.untilProvisioned(t)
	NewWithT(t).Expect(string(m.view(t).Stage)).To(Equal("Rebooting"), "the agent did install")
}

func stockFailed(t *testing.T, m *machine) {
	m.deploy(t)
	NewWithT(t).Expect(m.untilFailed(t)).To(HavePrefix(names.StartAssistedInstall + " failed: "))
}
