package steps_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/systemd/standin"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// TestOnTheStandin runs the real agent in the rendered unit without a systemd,
// as a simulated machine does.
func TestOnTheStandin(t *testing.T) {
	if testing.Short() {
		t.Skip("the real agent is no unit test")
	}
	l := &lab{Host: hostfile.Dir{Root: t.TempDir()}, BootID: "b0070000-0000-4000-8000-000000000001"}
	path := l.Host.Path(hostfile.BootIDPath())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(l.BootID+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.binary = systemdtest.Build(t, "github.com/ironflow/ironflow/test/cmd/ironflow-step")
	agent := systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-agent")
	l.env = []string{standin.BinEnv + "=" + filepath.Dir(agent)}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.hub = newHub(t, listener)
	l.image = render(t, l.hub.url)
	for _, c := range []realCase{
		{name: "installed", after: installed},
		{name: "confirm after an installation", after: confirmed},
		{
			name: "installation fails for good", faults: failsAtWriting, code: exitcode.StepFailed,
			reason: `installation failed at "Writing image to disk" (50 %): input/output error at sector 4711`, after: confirmFails("sector 4711"),
		},
		{name: "agent dies in the installation and goes on", faults: []scenario.Fault{{Kind: scenario.FaultAgentDies, Stage: writeStage}}, dropIn: soon, after: installedAfterRestart},
		{name: "marker, then a crash", faults: exits(scenario.StageMarked, 3), reason: "installed, but the agent then failed: exited with status 3", after: installedAndConfirmed},
		{
			name: "marker, then a crash, and up again at once", faults: exits(scenario.StageMarked, 3), dropIn: "[Service]\nRestartSec=0\n",
			reason: "installed, but the agent then failed", after: installedAndConfirmed,
		},
		{
			name: "exit 91: the hub ends the installation", hub: endsInstallation, writing: time.Minute, code: exitcode.StepCancelled,
			reason: `installation cancelled at "Writing image to disk"`, detail: "the hub ended the installation",
		},
		{
			name: "start deadline: the hub is away", hub: away, args: `{"start_s": 3}`, code: exitcode.StepDeadline,
			reason: "agent.service was not ready after 3s (start deadline); its last status: starting: not registered",
		},
		{name: "stage deadline", writing: time.Minute, args: `{"stage_s": 2}`, code: exitcode.StepDeadline, reason: `stage "Writing image to disk" took longer than 2s (stage deadline)`},
		{name: "exit 90", faults: exits("", exitcode.AgentFailed), code: exitcode.StepFailed, reason: "installation failed: its last status: waiting: registered"},
		{
			name: "status that is not UTF-8", faults: append(says(writeStage, `\xff\xfe\x00`, 0), exits(writeStage, exitcode.AgentFailed)...), code: exitcode.StepFailed,
			reason: `installation failed at "Writing image to disk"`,
		},
		{name: "flood of status texts", faults: says(writeStage, "flood", 20000), after: installed},
		{name: "cancelled in the installation", writing: time.Minute, during: cancel(writeStage), code: exitcode.StepCancelled, reason: "cancelled by the signal terminated"},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, l) })
	}
}
