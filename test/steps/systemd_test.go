//go:build e2e

package steps_test

import (
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/confirm"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

var realCases = []realCase{
	// How an installation ends.
	{name: "installed", after: installed},
	{
		name: "installation fails for good", faults: failsAtWriting, code: exitcode.StepFailed,
		reason: `installation failed at "Writing image to disk" (50 %): input/output error at sector 4711`, detail: "failed for good; not restarted",
	},
	{name: "agent dies in the installation and goes on", faults: []scenario.Fault{{Kind: scenario.FaultAgentDies, Stage: writeStage}}, dropIn: soon, after: installedAfterRestart},
	{
		name: "agent dies for ever", faults: []scenario.Fault{{Kind: scenario.FaultAgentDies, Times: 100}}, dropIn: soon, code: exitcode.StepFailed,
		reason: "agent.service ended badly again and again and was stopped (5 restarts within", detail: "main process: was killed by signal 9 (SIGKILL)",
	},
	{
		name: "agent dies and nothing restarts it", faults: []scenario.Fault{{Kind: scenario.FaultAgentDies}}, dropIn: "[Service]\nRestart=no\n", code: exitcode.StepFailed,
		reason: "agent.service failed: the agent was killed by signal 9 (SIGKILL)",
	},
	{
		name: "exit 90", faults: exits("", exitcode.AgentFailed), code: exitcode.StepFailed,
		reason: "installation failed: its last status: waiting: registered", detail: "journal: ",
	},
	{
		name: "exit 91: the hub ends the installation", hub: endsInstallation, writing: time.Minute, code: exitcode.StepCancelled,
		reason: `installation cancelled at "Writing image to disk"`, detail: "the hub ended the installation",
	},
	{name: "exit 0 before an installation", faults: exits("", 0), code: exitcode.StepFailed, reason: "agent.service was stopped before the installation was done"},
	{name: "exit 0 before it was ready", script: []string{"exit=0"}, dropIn: soon, code: exitcode.StepFailed, reason: "again and again", detail: "result"},
	{name: "exit 1 without restart", faults: exits("", 1), dropIn: "[Service]\nRestart=no\n", code: exitcode.StepFailed, reason: "the agent exited with status 1"},
	{name: "segmentation fault", dropIn: "[Service]\nRestart=no\nType=simple\nExecStart=\nExecStart=/bin/sh -c 'kill -SEGV $$$$'\n", code: exitcode.StepFailed, reason: "signal 11 (SIGSEGV)"},
	{
		name: "program missing in the image", dropIn: "[Service]\nRestart=no\nExecStart=\nExecStart=/usr/bin/not-there\n", code: exitcode.StepFailed,
		reason: "exited with status 203: the program is missing",
	},
	{
		name: "pre-start fails", dropIn: "[Service]\nRestart=no\nExecStartPre=/bin/sh -c 'echo cannot pull; exit 4'\n", code: exitcode.StepFailed,
		reason: "did not run (systemd: exit-code)", detail: "journal: cannot pull",
	},
	{
		name: "a dependency fails", dropIn: "[Unit]\nRequires=broken.service\nAfter=broken.service\n", before: brokenDependency, code: exitcode.StepFailed,
		reason: `systemd did not start agent.service: the result of its job was "dependency"`,
	},
	{name: "marker, then a crash", faults: exits(scenario.StageMarked, 3), reason: "installed, but the agent then failed: exited with status 3", after: installedAndConfirmed},
	{
		name: "marker, then a crash, and up again at once", faults: exits(scenario.StageMarked, 3), dropIn: "[Service]\nRestartSec=0\n",
		reason: "installed, but the agent then failed", after: installedAndConfirmed,
	},
	{
		name: "marker, but the agent does not end", faults: hangs(scenario.StageMarked), dropIn: "[Service]\nTimeoutStopSec=1\n",
		reason: "installed, but the agent then failed: was killed by signal 9 (SIGKILL)", after: installedAndConfirmed,
	},
	{
		name: "marker, and the installer's stop is not heard", faults: hangs(scenario.StageMarked), dropIn: "[Service]\nTimeoutStopSec=1\n", during: stopAfterMarker,
		reason: "installed, but the agent then failed: was killed by signal 9 (SIGKILL)", after: installed,
	},
	{name: "stopped by the installer with a marker", script: []string{"ready", "marker", "status=ending: Rebooting 100%"}, during: stopUnit("Rebooting"), after: installed},
	{
		name: "stopped by the installer without a marker", script: []string{"ready", "status=installing: Rebooting"}, during: stopUnit("Rebooting"),
		code: exitcode.StepFailed, reason: "stopped before the installation was done",
	},
	{
		name: "stopped in the installation", writing: time.Minute, during: stopUnit(writeStage), code: exitcode.StepCancelled,
		reason: `installation cancelled at "Writing image to disk"`, detail: `the agent was stopped by the signal`,
	},
	{name: "stopped by a person while it waits", waits: true, during: stopUnit("waiting"), code: exitcode.StepCancelled, reason: `the agent was stopped by the signal "terminated"`},
	{
		name: "stopped by a person in the pre-start", dropIn: "[Service]\nExecStartPre=/bin/sleep 60\n", during: stopUnit("start-pre"), code: exitcode.StepFailed,
		reason: "stopped before the installation was done", detail: "start job: canceled",
	},

	// What the image or the host may be like.
	{name: "started before the gate", before: startBeforeGate, after: installed},
	{name: "started by hand", before: startByHand, waits: true, code: exitcode.StepFailed, reason: "somebody started it by hand"},
	{name: "masked", before: maskUnit, code: exitcode.StepImageUnfit, reason: "agent.service is masked"},
	{name: "missing", before: removeUnit, code: exitcode.StepImageUnfit, reason: "this live image has no agent.service"},
	{name: "broken unit file", dropIn: "[Service]\nType=nonsense\nExecStart=\n", code: exitcode.StepImageUnfit, reason: "cannot be loaded"},
	{name: "another condition is not met", dropIn: "[Unit]\nConditionPathExists=/not/there\n", code: exitcode.StepImageUnfit, reason: "one of its conditions is not met"},
	{name: "marker of an earlier boot", before: markerOf("earlier-boot", ""), faults: exits("", 0), code: exitcode.StepFailed, reason: "stopped before the installation was done"},
	{name: "marker of an earlier run", before: markerOf("", "0123456789abcdef0123456789abcdef"), faults: exits("", 0), code: exitcode.StepFailed, reason: "stopped before the installation was done"},
	{name: "slow pre-start", dropIn: "[Service]\nExecStartPre=/bin/sleep 1\n", during: func(_ *testing.T, g *WithT, _ *lab, p *program) { p.says(g, "start-pre") }, after: installed},

	// What may happen meanwhile.
	{name: "daemon-reload", writing: 2 * time.Second, during: inside("systemctl daemon-reload"), after: installed},
	{name: "daemon-reexec", writing: 3 * time.Second, during: inside("systemctl daemon-reexec"), after: installed},
	{name: "D-Bus restart", writing: 4 * time.Second, during: inside("systemctl restart dbus.service"), after: installed},
	{
		name: "D-Bus restart while the start job waits", dropIn: "[Unit]\nWants=slow.service\nAfter=slow.service\n", before: slowDependency,
		during: busRestartsWhileQueued, after: installed,
	},
	{name: "unit replaced", writing: 2 * time.Second, during: inside("sed -i s/^Description=.*/Description=new/ /etc/systemd/system/agent.service && systemctl daemon-reload"), after: installed},
	{name: "unit removed", writing: 2 * time.Second, during: inside("rm /etc/systemd/system/agent.service && systemctl daemon-reload"), after: installed},
	{
		name: "gate removed, agent crashes", faults: exits(writeStage, 1), writing: 3 * time.Second, dropIn: soon,
		during: inside("rm /run/ironflow/agent.gate"), code: exitcode.StepFailed, reason: "its gate /run/ironflow/agent.gate was removed",
	},
	{name: "flood of status texts", faults: says(writeStage, "flood", 20000), after: installed},
	{
		name: "status that is not UTF-8", faults: append(says(writeStage, `\xff\xfe\x00`, 0), exits(writeStage, exitcode.AgentFailed)...), code: exitcode.StepFailed,
		reason: `installation failed at "Writing image to disk"`, detail: "last status: installing: Writing image to disk",
	},
	{name: "output that is not UTF-8", script: []string{"ready", `print=\xff\xfe\x1b[31mred`, "exit=90"}, code: exitcode.StepFailed, detail: "red"},
	{name: "step file from two days ago", writing: 2 * time.Second, during: stepFileFrom(-48 * time.Hour), code: -1},
	{name: "step file from the future", writing: 2 * time.Second, during: stepFileFrom(48 * time.Hour), code: -1},
	{name: "clock jumps forward", needs: clockMayMove, writing: 3 * time.Second, args: `{"idle_s": 30, "total_s": 30, "stage_s": 30}`, during: clockJumps(time.Hour), after: installed},
	{name: "clock jumps back", needs: clockMayMove, writing: 3 * time.Second, args: `{"idle_s": 30, "total_s": 30, "stage_s": 30}`, during: clockJumps(-time.Hour), after: installed},
	{
		name: "status from another time",
		script: []string{
			"ready", "status=waiting: x [23:59:59]", "sleep=100ms", "status=waiting: x [00:00:00]", "sleep=100ms",
			"status=installing: Writing image to disk 5% [00:00:01]", "sleep=100ms", "marker", "exit=0",
		},
		args: `{"idle_s": 5, "total_s": 5}`, after: installed,
	},
	{name: "deactivating is not an end", script: []string{"ready", "stopping", "sleep=500ms", "marker", "exit=0"}, after: installed},
	{name: "reloading is not an end", script: []string{"ready", "reloading", "sleep=1500ms", "ready", "marker", "exit=0"}, during: sees("reloading"), after: installed},

	// Deadlines.
	{name: "start deadline", dropIn: "[Service]\nExecStartPre=/bin/sleep 60\n", args: `{"start_s": 1}`, code: exitcode.StepDeadline, reason: "agent.service was not ready after 1s (start deadline)"},
	{name: "start deadline of the image", dropIn: "[Service]\nExecStartPre=/bin/sleep 60\n", deadlines: `{"start_s": 1}`, code: exitcode.StepDeadline, reason: "(start deadline)"},
	{name: "idle deadline", waits: true, args: `{"idle_s": 2}`, code: exitcode.StepDeadline, reason: "no sign of the agent for 2s (idle deadline)"},
	{name: "total deadline", writing: time.Minute, args: `{"total_s": 2}`, code: exitcode.StepDeadline, reason: "the installation was not done after 2s"},
	{
		name: "start deadline: the hub is away", hub: away, args: `{"start_s": 3}`, code: exitcode.StepDeadline,
		reason: "agent.service was not ready after 3s (start deadline); its last status: starting: not registered",
	},
	{
		name: "the hub is away for longer than systemd waits", hub: away, dropIn: "[Service]\nTimeoutStartSec=1\n", code: exitcode.StepFailed,
		reason: "agent.service failed", detail: "result timeout",
	},
	{
		name: "stage deadline", writing: time.Minute, args: `{"stage_s": 2}`, code: exitcode.StepDeadline,
		reason: `stage "Writing image to disk" took longer than 2s (stage deadline)`,
	},
	{name: "stage deadline of the image", writing: time.Minute, deadlines: `{"stage_s": 2}`, code: exitcode.StepDeadline, reason: "(stage deadline)"},
	{
		name: "a stop that hangs", waits: true, faults: hangs(""), dropIn: hangingStop, during: stopLater("waiting"), code: exitcode.StepFailed,
		reason: "agent.service does not stop: deactivating/",
	},
	{name: "deadline, but the agent is deaf", waits: true, faults: hangs(""), args: `{"idle_s": 1}`, dropIn: "[Service]\nTimeoutStopSec=1\n", code: exitcode.StepDeadline, reason: "(idle deadline)"},

	// Cancel, two at once, restarts of IPA.
	{name: "cancelled while it waits", waits: true, during: cancel("waiting"), after: unitStopped, code: exitcode.StepCancelled, reason: "cancelled by the signal terminated"},
	{
		name: "cancelled in the installation", writing: time.Minute, during: cancel(writeStage), after: unitStopped, code: exitcode.StepCancelled,
		reason: `cancelled by the signal terminated at "Writing image to disk"`,
	},
	{name: "cancelled, but the agent is deaf", waits: true, faults: hangs(""), during: cancel("waiting"), after: unitStopped, code: exitcode.StepCancelled, reason: "cancelled by the signal terminated"},
	{name: "cancelled in the pre-start", dropIn: "[Service]\nExecStartPre=/bin/sleep 60\n", during: cancel("start-pre"), after: unitStopped, code: exitcode.StepCancelled, reason: "cancelled by"},
	{name: "cancelled by the stop file", waits: true, during: stopFile, after: unitStopped, code: exitcode.StepCancelled, reason: "cancelled by the operator"},
	{name: "two steps at once", waits: true, during: twoAtOnce, code: exitcode.StepCancelled},
	{name: "step killed, IPA asks again: followed", writing: 2 * time.Second, during: killedAndFollowed(assisted.Name), code: -1},
	{name: "step killed, confirm_install follows", writing: 2 * time.Second, during: killedAndFollowed(confirm.Name), code: -1},
	{name: "step killed, its deadline goes on", writing: time.Minute, args: `{"stage_s": 8}`, during: deadlineGoesOn, code: -1},

	// Installers that are not ours: no marker, but a container with an exit status.
	{name: "foreign installer done", script: foreignScript, before: podman(justBegan + "echo 0"), during: stopUnit("Rebooting"), after: foreignInstalled},
	{
		name: "foreign installer of an earlier attempt", script: foreignScript, before: podman("[ $1 = inspect ] && { echo 1; exit; }; echo 0"), during: stopUnit("Rebooting"),
		code: exitcode.StepFailed, reason: "stopped before the installation was done",
	},
	{
		name: "foreign installer, the step gives up", script: []string{
			"ready", "status=installing: (the hub's own installer is at work)", "sleep=1m",
		}, before: podman(justBegan + ":"), args: `{"total_s": 2}`,
		code: exitcode.StepDeadline, reason: "(total deadline); its last status: installing: (the hub's own installer is at work)", after: containerStopped,
	},
	{
		name: "foreign installer failed", script: foreignScript, before: podman(justBegan + "echo 1"), during: stopUnit("Rebooting"),
		code: exitcode.StepFailed, reason: "stopped before the installation was done",
	},
	{
		name: "foreign installer, its container is gone", script: foreignScript, before: podman("case $1 in events) echo 0;; stop|rm) ;; *) exit 125;; esac"), during: stopUnit("Rebooting"),
		after: foreignInstalled,
	},

	// confirm_install.
	{name: "confirm after an installation", after: confirmed},
	{name: "confirm after a failed installation", faults: failsAtWriting, code: exitcode.StepFailed, after: confirmFails("input/output error at sector 4711")},
	{name: "confirm after a reboot in mid step", step: confirm.Name, before: stateOf("earlier-boot"), code: exitcode.StepFailed, reason: "the machine was restarted during the installation"},
	{name: "confirm without any step", step: confirm.Name, code: exitcode.StepFailed, reason: "no record of an installation step"},
}

// newLab boots a machine with a real systemd, a hub inside its network, and the real programs.
func newLab(t *testing.T) *lab {
	t.Helper()
	m := systemdtest.Boot(t)
	l := &lab{machine: m, Host: m.Host, BootID: m.BootID}
	l.binary = systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step")
	systemdtest.Install(t, l.Host, systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-agent"), hostfile.AgentBinary)
	systemdtest.Install(t, l.Host, systemdtest.BuildActor(t), systemdtest.ActorPath)
	systemdtest.Install(t, l.Host, l.binary, hostfile.StepBinary)
	l.hub = newHub(t, m.Listen(t))
	l.image = render(t, l.hub.url)
	return l
}

func TestOnRealSystemd(t *testing.T) {
	l := newLab(t)
	for _, c := range realCases {
		t.Run(c.name, func(t *testing.T) { c.run(t, l) })
	}
	for _, c := range []realCase{
		{name: "systemd is frozen", before: freeze, during: untilItGivesUp, code: exitcode.StepFailed, reason: "no answer from systemd at "},
		{name: "systemd stands still for a moment", writing: 4 * time.Second, during: standsStillAt(writeStage), after: installed},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, l) })
	}
	t.Run("IPA as a program is restarted", func(t *testing.T) { ipaIsRestarted(t, l) })
	t.Run(outOfMemory.name, func(t *testing.T) {
		controllers := l.Run(t, "cat", "/sys/fs/cgroup/cgroup.controllers")
		if !strings.Contains(controllers, "memory") {
			t.Skip("this kernel gives cgroup v2 no memory controller: systemd cannot limit a unit's memory here")
		}
		outOfMemory.run(t, l)
	})
}

// outOfMemory needs the kernel's memory controller.
var outOfMemory = realCase{
	name: "out of memory", script: []string{"ready", "status=installing: Writing image to disk 5%", "alloc=256", "sleep=30s"},
	dropIn: "[Service]\nRestart=no\nMemoryMax=64M\nMemorySwapMax=0\n", code: exitcode.StepFailed,
	reason: `was killed by signal 9 (SIGKILL) (systemd: oom-kill)`, detail: "result oom-kill",
}

// foreignScript is an agent whose installer stops its unit without a marker.
var foreignScript = []string{"ready", "status=installing: Rebooting"}

const (
	podmanPath = "/usr/local/bin/podman"
	// podmanSaid is what it was asked for, a line each.
	podmanSaid = "/run/podman-said"
	// justBegan is a container engine whose container began after the step.
	justBegan = "[ $1 = inspect ] && { date +%s; exit; }\n"
)

// podman puts a container engine into the machine that knows the installer's container.
func podman(script string) func(*testing.T, *WithT, *lab) {
	return func(t *testing.T, g *WithT, l *lab) {
		l.write(t, podmanPath, []byte("#!/bin/sh\necho \"$@\" >> "+podmanSaid+"\n"+script+"\n"))
		path := l.Host.Path(podmanPath)
		g.Expect(os.Chmod(path, 0o755)).To(Succeed())
		t.Cleanup(func() { _, _ = os.Remove(path), os.Remove(l.Host.Path(podmanSaid)) })
	}
}

// containerStopped asks for what an installer needs whose step has given up.
func containerStopped(_ *testing.T, g *WithT, l *lab, _ report) {
	said, err := os.ReadFile(l.Host.Path(podmanSaid))
	g.Expect(err).NotTo(HaveOccurred())
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	g.Expect(lines).To(HaveExactElements(
		"stop --ignore --time 5 assisted-installer", "rm --force --ignore assisted-installer", // of an earlier attempt, at the start
		"stop --ignore --time 5 assisted-installer",
	))
}

func foreignInstalled(t *testing.T, g *WithT, l *lab, r report) {
	g.Expect(r.Result).To(HaveKeyWithValue("outcome", "installed"))
	confirmed(t, g, l, r)
}

func stopUnit(when string) func(*testing.T, *WithT, *lab, *program) {
	return func(t *testing.T, g *WithT, l *lab, p *program) {
		p.says(g, when)
		l.Run(t, "systemctl", "stop", hostfile.AgentUnit)
	}
}

// inside runs a command in the machine once the agent is at work.
func inside(command string) func(*testing.T, *WithT, *lab, *program) {
	return func(t *testing.T, g *WithT, l *lab, p *program) {
		g.Eventually(p.stdout.String, patience).Should(Or(ContainSubstring(writeStage), ContainSubstring("waiting")))
		l.Run(t, "sh", "-c", command)
	}
}
