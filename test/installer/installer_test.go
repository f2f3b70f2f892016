//go:build e2e

package installer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/confirm"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/output"
)

// TestAgentInstallsADisk is the whole protocol against our hub: register, known,
// install on a disk, done marker, exit 0. Ironic's agent is there, so nobody but
// Ironic restarts the machine.
func TestAgentInstallsADisk(t *testing.T) {
	w := newWorld(t, livesystem.Disk{})
	w.addIPA()
	// What an earlier system has left is cleaned away.
	w.system.Run(t, "sh", "-c", "echo LABELONE | dd of="+w.system.Disk+" bs=512 seek=1 conv=notrunc status=none")
	begin := time.Now()
	wait := w.start()
	key := w.approve()
	w.g.Expect(wait()).To(Equal(exitcode.AgentInstalled))
	t.Logf("figure: from the agent's start to its end %.1f s", time.Since(begin).Seconds())

	marker, err := w.marker()
	w.g.Expect(err).NotTo(HaveOccurred())
	w.g.Expect(marker.Disk).To(Equal(w.system.Disk))
	w.g.Expect(marker.BootID).To(Equal(w.system.BootID))
	w.installed(key)
	view := w.view(key)
	w.g.Expect(view.Stage).To(Equal(wire.HostStageRebooting))
	w.g.Expect(view.StageInfo).To(Equal("Ironic will reboot the node"))
	w.g.Expect(w.system.Run(t, "systemctl", "is-active", hostfile.IPAUnit)).To(Equal("active"), "the machine is not restarted from here")
	w.g.Expect(w.hub.Timeline(t)).To(ContainSubstring("Writing image to disk"))

	// The same order once more finds the marker and writes nothing.
	before := w.system.Checksum(t)
	again, err := w.agent(t.Context()).CombinedOutput()
	w.g.Expect(err).NotTo(HaveOccurred(), "%s", again)
	w.g.Expect(string(again)).To(And(ContainSubstring("an earlier process has installed this host"), ContainSubstring("done write-image "+w.system.Disk)))
	w.g.Expect(w.system.Checksum(t)).To(Equal(before))
}

// TestWithoutIronicTheMachineIsRestarted: logind has the order, a minute ahead or
// at once for a single node, and this host's cluster has one.
func TestWithoutIronicTheMachineIsRestarted(t *testing.T) {
	w := newWorld(t, livesystem.Disk{})
	// What a restart begins with is replaced, so that the machine of the test stays.
	w.put(hostfile.UnitDir+"/reboot.target", "[Unit]\nDescription=Restart\nRequires=restarted.service\n")
	w.put(hostfile.UnitDir+"/restarted.service", "[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/touch /run/restarted\n")
	w.system.Run(t, "systemctl", "daemon-reload")
	wait := w.start()
	key := w.approve()
	w.g.Expect(wait()).To(Equal(exitcode.AgentInstalled))
	w.installed(key)
	w.g.Eventually(func() error { return w.system.Command(t.Context(), "test", "-e", "/run/restarted").Run() }).WithTimeout(time.Minute).Should(Succeed())
}

// report is a line of a deploy step.
type report struct {
	Stage   string         `json:"stage"`
	Percent int            `json:"percent"`
	Outcome string         `json:"outcome"`
	Reason  string         `json:"reason"`
	Detail  []string       `json:"detail"`
	Result  map[string]any `json:"result"`
}

// step runs a deploy step inside the machine; during is called while it runs.
func (w *world) step(name string, during func()) (int, []report) {
	w.t.Helper()
	in := fmt.Sprintf(`{"node": {"uuid": %q, "driver_internal_info": {"deploy_steps": [{"step": %q, "interface": "deploy"}]}}, "ports": [], "args": {}}`, nodeUUID, assisted.Name)
	cmd := w.system.Command(w.t.Context(), hostfile.StepBinary, name)
	var out, log output.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &log
	w.g.Expect(cmd.Start()).To(Succeed())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if w.t.Failed() {
			journal, _ := w.system.Command(w.t.Context(), "journalctl", "--no-pager", "--unit", hostfile.AgentUnit).CombinedOutput()
			w.t.Logf("%s:\n%s%s\nagent:\n%s", name, log.String(), out.String(), journal)
		}
	})
	if during != nil {
		during()
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	w.g.Eventually(done).WithTimeout(patience).Should(Receive(), "the step ends")
	var reports []report
	for line := range strings.Lines(out.String()) {
		var r report
		w.g.Expect(json.Unmarshal([]byte(line), &r)).To(Succeed(), line)
		reports = append(reports, r)
	}
	return cmd.ProcessState.ExitCode(), reports
}

// TestDeployStepInstallsADisk is the same through start_assisted_install on the
// real systemd, with the unit that a live image has.
func TestDeployStepInstallsADisk(t *testing.T) {
	w := newWorld(t, livesystem.Disk{})
	w.addIPA()
	w.addAgentUnit()
	// Progress comes once a second at most, and the image is written faster than that.
	w.system.Script(t, "/usr/local/bin/coreos-installer", "/usr/bin/coreos-installer \"$@\"\nstatus=$?\n[ \"$1\" != install ] || sleep 3\nexit $status\n")
	code, reports := w.step(assisted.Name, func() { w.approve() })
	last := reports[len(reports)-1]
	w.g.Expect(code).To(Equal(exitcode.StepDone), "%+v", last)
	w.g.Expect(last.Result).To(HaveKeyWithValue("outcome", "installed"))
	stages := map[string]int{}
	for _, r := range reports {
		stages[r.Stage] = max(stages[r.Stage], r.Percent)
	}
	w.g.Expect(stages).To(HaveKeyWithValue("Writing image to disk", BeNumerically(">", 0)), "with percent: %v", stages)
	hosts, err := w.hub.Hosts(t.Context(), store.HostFilter{InfraEnvID: w.env})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.installed(store.HostKey{InfraEnvID: w.env, HostID: hosts[0].ID})
	code, reports = w.step(confirm.Name, nil)
	w.g.Expect(code).To(Equal(exitcode.StepDone), "%+v", reports)
	w.g.Expect(reports[len(reports)-1].Result).To(HaveKeyWithValue("disk", w.system.Disk))
}

// TestAFullDiskIsTheReason: the disk's file lies on a file system that fills up,
// and the kernel answers further writes with an input/output error. The speed
// check, which writes 22 MiB, still fits. See also [TestOnDeviceMapper].
func TestAFullDiskIsTheReason(t *testing.T) {
	livesystem.Need(t)
	small := t.TempDir()
	livesystem.Output(t, "mount", "-t", "tmpfs", "-o", "size=48m", "small", small)
	t.Cleanup(func() { _ = unix.Unmount(small, unix.MNT_DETACH) })
	w := newWorld(t, livesystem.Disk{Dir: small})
	w.stepFails(`(input/output error|os error 5|no space left)`)
}

// stepFails has start_assisted_install fail at the disk; reason is a pattern of
// what the disk answered.
func (w *world) stepFails(reason string) {
	w.t.Helper()
	w.addIPA()
	w.addAgentUnit()
	code, reports := w.step(assisted.Name, func() { w.approve() })
	last := reports[len(reports)-1]
	w.g.Expect(code).To(Equal(exitcode.StepFailed), "%+v", last)
	w.g.Expect(last.Reason).To(MatchRegexp(`(?i)^installation failed at "Writing image to disk".*` + reason))
	hosts, err := w.hub.Hosts(w.t.Context(), store.HostFilter{InfraEnvID: w.env})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.failed(store.HostKey{InfraEnvID: w.env, HostID: hosts[0].ID}, reason)
	code, reports = w.step(confirm.Name, nil)
	w.g.Expect(code).To(Equal(exitcode.StepFailed), "%+v", reports)
}

// failed proves that the hub knows that and why the disk could not be written,
// and that nobody takes it for installed.
func (w *world) failed(key store.HostKey, reason string) {
	w.t.Helper()
	view := w.view(key)
	w.g.Expect(view.Failed).To(BeTrue())
	w.g.Expect(view.Reason).To(MatchRegexp(`(?i)Writing image to disk: .*` + reason))
	_, err := w.marker()
	w.g.Expect(err).To(MatchError(hostfile.ErrNoState))
}
