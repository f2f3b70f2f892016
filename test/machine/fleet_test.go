package machine_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// up powers the machine on with a medium for the Ironic and waits for its agent.
func up(t *testing.T, r *rig, ironic *ironicDouble) (command func(string, map[string]any, bool) map[string]any) {
	t.Helper()
	r.insert(images(t, map[string]*overlay.Image{"x.iso": liveISO(t, liveConfig(t, ironic.URL, ironic.ca(),
		unit("ironic-agent.service", true, "[Service]\n"), unit("agent.service", false, "[Service]\n")))}) + "/x.iso")
	r.bootFrom(emulator.BootCd)
	r.power(emulator.ResetForceOn, emulator.PowerOn)
	r.until("its agent serves", func(s machine.Status) bool { return s.Agent == ipa.Serving })
	return ironic.agent(t)
}

func TestLifeOfAMachine(t *testing.T) {
	g := NewWithT(t)
	r, ironic := newRig(t, scriptedStep(t, stepInstalls), nil), newIronicDouble(t)
	r.untilState(machine.Off)
	command := up(t, r, ironic)
	live := r.untilState(machine.Live)
	g.Expect(live.Boots).To(Equal(1))
	g.Expect(live.BootID).NotTo(BeEmpty())
	g.Expect(live.ReadBytes).To(And(Equal(live.MediumBytes), BeNumerically(">", 0)))

	steps := command("deploy.get_deploy_steps", map[string]any{"node": map[string]any{}, "ports": []any{}}, true)["command_result"]
	g.Expect(steps).To(HaveKeyWithValue("deploy_steps", And(
		HaveKeyWithValue("IronflowHardwareManager", HaveLen(1)), HaveKey("GenericHardwareManager"))))
	done := command("deploy.execute_deploy_step", execute("start_assisted_install"), true)
	g.Expect(done["command_result"]).To(HaveKeyWithValue("deploy_result", HaveKeyWithValue("outcome", "installed")))
	installed := r.until("something is on its disk", func(s machine.Status) bool { return s.Disk != nil && s.Step == "" })
	g.Expect(installed.Disk.Disk).To(Equal("/dev/sda"))
	g.Expect([]any{installed.Stage, installed.Percent, installed.Text}).To(Equal([]any{"Writing image to disk", 50, "to /dev/sda"}))

	r.bootFrom(emulator.BootHdd)
	command("standby.power_off", map[string]any{}, false)
	r.untilState(machine.Off)
	g.Eventually(func() emulator.Power { return r.board.power(live.UUID) }, patience).Should(Equal(emulator.PowerOff), "its BMC knows")
	r.power(emulator.ResetForceOn, emulator.PowerOn)
	g.Expect(r.untilState(machine.Installed).Boots).To(Equal(2))

	ironic.forget()
	r.bootFrom(emulator.BootCd)
	r.power(emulator.ResetForceRestart, emulator.PowerOn)
	again := r.until("a new live system runs", func(s machine.Status) bool {
		return s.State == machine.Live && s.BootID != live.BootID && s.Agent == ipa.Serving
	})
	g.Expect(again.Disk).NotTo(BeNil(), "the disk outlives the boot")
	done = ironic.agent(t)("clean.execute_clean_step", execute("erase_devices_metadata"), true)
	g.Expect(done["command_status"]).To(Equal("SUCCEEDED"))
	r.until("its disk is empty", func(s machine.Status) bool { return s.Disk == nil })
}

func TestEndsOfAStep(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"failed with a reason", stepFails, "disk is on fire\nline one\nline two"},
		{"killed", stepCrashes, "the program of step start_assisted_install was killed by signal 9\nlast words"},
		{"without a last line", "exit 0\n", "ended with exit code 0 and no result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			r, ironic := newRig(t, scriptedStep(t, c.body), nil), newIronicDouble(t)
			done := up(t, r, ironic)("deploy.execute_deploy_step", execute("start_assisted_install"), true)
			g.Expect(done["command_status"]).To(Equal("FAILED"))
			g.Expect(done["command_error"]).To(And(HaveKeyWithValue("type", "DeploymentError"), HaveKeyWithValue("details", ContainSubstring(c.want))))
		})
	}
}

func TestPowerSwitchesEndEverything(t *testing.T) {
	for reset, want := range map[emulator.Reset]machine.State{
		emulator.ResetForceOff: machine.Off, emulator.ResetGracefulShutdown: machine.Off, emulator.ResetForceRestart: machine.Live,
	} {
		t.Run(string(reset), func(t *testing.T) {
			g := NewWithT(t)
			r, ironic := newRig(t, scriptedStep(t, stepHangs), nil), newIronicDouble(t)
			up(t, r, ironic)("deploy.execute_deploy_step", execute("start_assisted_install"), false)
			before := r.until("the step is under way", func(s machine.Status) bool { return s.Stage != "" })
			g.Eventually(func() int { return len(r.fleet.Processes()) }, patience).Should(BeNumerically(">=", 3))
			after := emulator.PowerOff
			if want != machine.Off {
				after = emulator.PowerOn
			}
			r.power(reset, after)
			s := r.until("it has followed", func(s machine.Status) bool { return s.State == want && s.Since.After(before.Since) })
			g.Expect(r.fleet.Processes()).To(BeEmpty())
			g.Expect(s.Step).To(BeEmpty())
			g.Expect(s.Disk).To(BeNil(), "half an installation is none")
		})
	}
}

// Media that a machine must not boot, each with the reason that is shown.
func TestUnbootableMedia(t *testing.T) {
	ok := unit("ironic-agent.service", true, "[Service]\n")
	for _, c := range []struct {
		name     string
		ignition func(t *testing.T) []byte
		path     string
		want     string
	}{
		{"no Ignition", func(*testing.T) []byte { return nil }, "/x.iso", "the image holds no Ignition config"},
		{"not Ignition", func(*testing.T) []byte { return []byte(`{"ignition": {"version": "1"}}`) }, "/x.iso", "config.ign: "},
		{"no IPA", func(t *testing.T) []byte { return liveConfig(t, "http://x", "") }, "/x.iso", "ironic-agent.service is missing or not enabled"},
		{"agent enabled", func(t *testing.T) []byte {
			return liveConfig(t, "http://x", "", ok, unit("agent.service", true, "[Service]\n"))
		}, "/x.iso", "agent.service is enabled"},
		{"Ironic's CA is none", func(t *testing.T) []byte { return liveConfig(t, "http://x", "nonsense", ok) }, "/x.iso", "holds no certificate"},
		{"gone", func(*testing.T) []byte { return nil }, "/other.iso", "HEAD was answered with 404"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			r := newRig(t, t.TempDir(), nil)
			r.insert(images(t, map[string]*overlay.Image{"x.iso": liveISO(t, c.ignition(t))}) + c.path)
			r.bootFrom(emulator.BootCd)
			r.power(emulator.ResetOn, emulator.PowerOn)
			g.Expect(r.untilState(machine.Stuck).Reason).To(ContainSubstring(c.want))
			r.power(emulator.ResetForceOff, emulator.PowerOff)
			g.Expect(r.untilState(machine.Off).Reason).To(BeEmpty())
		})
	}
}

// Faults of the machine itself happen as often as the scenario says, and the
// next attempt goes well.
func TestBootFaults(t *testing.T) {
	for kind, want := range map[scenario.FaultKind]string{
		scenario.FaultNoBoot:        "the machine does not boot its medium: no boot device found",
		scenario.FaultTruncatedRead: "the BMC reports the end of the medium at byte",
	} {
		t.Run(string(kind), func(t *testing.T) {
			g := NewWithT(t)
			r, ironic := newRig(t, t.TempDir(), func(s *scenario.Scenario) { g.Expect(generate.AddFault(s, kind)).To(Succeed()) }), newIronicDouble(t)
			r.insert(images(t, map[string]*overlay.Image{"x.iso": liveISO(t, liveConfig(t, ironic.URL, ironic.ca(), unit("ironic-agent.service", true, "")))}) + "/x.iso")
			r.bootFrom(emulator.BootCd)
			r.power(emulator.ResetForceOn, emulator.PowerOn)
			g.Expect(r.untilState(machine.Stuck).Reason).To(ContainSubstring(want))
			r.power(emulator.ResetForceRestart, emulator.PowerOn)
			g.Expect(r.untilState(machine.Live).Boots).To(Equal(2))
		})
	}
}

func TestCleanStepFault(t *testing.T) {
	g := NewWithT(t)
	r, ironic := newRig(t, t.TempDir(), func(s *scenario.Scenario) {
		g.Expect(generate.AddFault(s, scenario.FaultCleanStep)).To(Succeed())
	}), newIronicDouble(t)
	command := up(t, r, ironic)
	failed := command("clean.execute_clean_step", execute("erase_devices_metadata"), true)
	g.Expect(failed["command_error"]).To(And(HaveKeyWithValue("type", "CleaningError"),
		HaveKeyWithValue("details", "disk refuses to be erased: it is frozen")))
	g.Expect(command("clean.execute_clean_step", execute("erase_devices_metadata"), true)["command_status"]).To(Equal("SUCCEEDED"))
}

// A machine that restarts in mid step comes up again without anybody's doing,
// and its BMC has not noticed.
func TestRestartFault(t *testing.T) {
	g := NewWithT(t)
	r, ironic := newRig(t, scriptedStep(t, stepHangs), func(s *scenario.Scenario) {
		g.Expect(generate.AddFault(s, scenario.FaultRestart)).To(Succeed())
	}), newIronicDouble(t)
	up(t, r, ironic)("deploy.execute_deploy_step", execute("start_assisted_install"), false)
	s := r.until("it came up a second time", func(s machine.Status) bool { return s.Boots == 2 && s.Agent == ipa.Serving })
	g.Expect(s.Disk).To(BeNil())
	g.Expect(r.fleet.Processes()).To(BeEmpty())
}

func TestCollectedLogs(t *testing.T) {
	g := NewWithT(t)
	r, ironic := newRig(t, scriptedStep(t, "echo 'from the step' >&2\n"+stepInstalls), nil), newIronicDouble(t)
	command := up(t, r, ironic)
	command("deploy.execute_deploy_step", execute("start_assisted_install"), true)
	result := command("log.collect_system_logs", map[string]any{}, true)["command_result"].(map[string]any)
	raw, err := base64.StdEncoding.DecodeString(result["system_logs"].(string))
	g.Expect(err).NotTo(HaveOccurred())
	z, err := gzip.NewReader(bytes.NewReader(raw))
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	archive := tar.NewReader(z)
	for header, err := archive.Next(); err == nil; header, err = archive.Next() {
		text, err := io.ReadAll(archive)
		g.Expect(err).NotTo(HaveOccurred())
		files[header.Name] = string(text)
	}
	g.Expect(files).To(And(HaveKeyWithValue("console.log", ContainSubstring("execute_deploy_step")),
		HaveKeyWithValue("step.log", ContainSubstring("from the step")), HaveKey("run/ironflow/installed.json")))
	g.Expect(files["console.log"]).NotTo(ContainSubstring(agentToken))
}

func TestWhatAnEarlierLabLeft(t *testing.T) {
	for name, c := range map[string]struct {
		fresh bool
		disk  any
	}{"kept": {false, Not(BeNil())}, "fresh": {true, BeNil()}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			s := generate.Machine(0, generate.Options{})
			g.Expect(os.MkdirAll(filepath.Join(dir, s.Name), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(filepath.Join(dir, s.Name, "disk.json"), []byte(`{"boot_id": "b", "invocation_id": "i", "time": "2026-01-01T00:00:00Z"}`), 0o600)).To(Succeed())
			fleet, err := machine.NewFleet(machine.Options{Dir: dir, Fresh: c.fresh, Scenarios: []*scenario.Scenario{s}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(fleet.States()).To(ConsistOf(And(HaveField("State", machine.Off), HaveField("Disk", c.disk))))
			g.Expect(fleet.Close()).To(Succeed())
		})
	}
}

func TestFleetRefusesEqualMachines(t *testing.T) {
	s := generate.Machine(0, generate.Options{})
	_, err := machine.NewFleet(machine.Options{Dir: t.TempDir(), Scenarios: []*scenario.Scenario{s, s}})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("have the same system UUID")))
}

func TestWaitForSaysHowTheMachineWas(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t, t.TempDir(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.fleet.WaitFor(ctx, r.name, func(machine.Status) bool { return false })
	g.Expect(err).To(MatchError(And(ContainSubstring("machine-0 is off"), ContainSubstring("context canceled"))))
	_, err = r.fleet.WaitFor(t.Context(), "nobody", nil)
	g.Expect(err).To(MatchError(ContainSubstring(`no machine is called "nobody"`)))
}
