//go:build e2e

package machine_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// shortAgent is the name of a program of the live image that is this test
// binary: an agent without a hub, which installs in no time.
const shortAgent = "short-agent"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == shortAgent {
		os.Exit(runShortAgent())
	}
	os.Exit(m.Run())
}

// runShortAgent does what the step looks at: READY, a status, the done marker.
func runShortAgent() int {
	host := hostfile.FromEnv()
	notify("READY=1\nSTATUS=" + hostfile.Status{Part: hostfile.PartInstalling, Stage: "Writing image to disk", Percent: 40, At: time.Now()}.String())
	var state hostfile.StepState
	bootID, err := host.BootID()
	if err == nil {
		err = host.Read(hostfile.StepFile, &state)
	}
	if err == nil {
		err = host.Write(hostfile.InstalledFile, hostfile.Installed{
			BootID: bootID, InvocationID: os.Getenv("INVOCATION_ID"), NodeUUID: state.NodeUUID, Disk: "/dev/sda", Time: time.Now(),
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitcode.AgentFailed
	}
	return exitcode.AgentInstalled
}

func notify(state string) {
	conn, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, state)
}

// shortAgentUnit is the agent's unit as the image has it, with that program.
const shortAgentUnit = `[Unit]
ConditionPathExists=/run/ironflow/agent.gate
[Service]
Type=notify
NotifyAccess=all
Restart=on-failure
RestartSec=1
RestartPreventExitStatus=90 91
ExecStart=/usr/local/bin/` + shortAgent + `
`

// hostPrograms returns a folder with the real step program of the lab, and the
// short agent.
func hostPrograms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, shortAgent)); err != nil {
		t.Fatal(err)
	}
	step := filepath.Join(dir, "ironflow-step")
	if built := os.Getenv("IRONFLOW_BIN"); built != "" {
		if err := os.Symlink(filepath.Join(built, "lab", "ironflow-step"), step); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", step, "github.com/ironflow/ironflow/test/cmd/ironflow-step").CombinedOutput()
	if err != nil {
		t.Fatalf("build ironflow-step: %v\n%s", err, out)
	}
	return dir
}

// realParts is a fleet behind the real emulator, with the real Ironic.
type realParts struct {
	lab    *lab.Lab
	fleet  *machine.Fleet
	images string
}

// newRealParts brings everything up for the scenarios, with a live image that
// all machines share.
func newRealParts(t *testing.T, options lab.IronicOptions, scenarios []*scenario.Scenario) *realParts {
	t.Helper()
	r := &realParts{lab: labtest.New(t)}
	pair, err := r.lab.Authority.Server()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	r.fleet, err = machine.NewFleet(machine.Options{
		Dir: t.TempDir(), BinDir: hostPrograms(t), Scenarios: scenarios, Certificate: &certificate, Pace: machine.LabPace,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.fleet.Close(); err != nil {
			t.Error(err)
		}
		if left := r.fleet.Processes(); len(left) > 0 {
			t.Errorf("processes %v outlive their machines", left)
		}
	})
	var group sync.WaitGroup
	group.Go(func() {
		user, password := r.fleet.NotifierCredentials()
		_, err := r.lab.StartEmulator(t.Context(), lab.EmulatorOptions{NotifierURL: r.fleet.NotifierURL(), NotifierUser: user, NotifierPassword: password})
		if err == nil {
			err = r.fleet.Plug(t.Context(), r.lab.Emulator)
		}
		if err != nil {
			t.Error(err)
		}
	})
	group.Go(func() {
		if _, err := r.lab.StartIronic(t.Context(), options); err != nil {
			t.Error(err)
		}
	})
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	r.images = images(t, map[string]*overlay.Image{"live.iso": liveISO(t, r.rendered(t))})
	return r
}

// rendered is the Ignition config of a host as Ironflow renders it, but for the
// agent's unit, which runs the short agent: there is no hub here.
func (r *realParts) rendered(t *testing.T) []byte {
	t.Helper()
	override, err := json.Marshal(map[string]any{
		"ignition": map[string]any{"version": "3.2.0"},
		"systemd":  map[string]any{"units": []any{unit(hostfile.AgentUnit, false, shortAgentUnit)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := ignition.Build(ignition.HostConfig{
		IPA:      &ignition.IPA{APIURLs: []string{r.lab.Ironic.URL}, CA: string(r.lab.Ironic.CA), Command: []string{"/usr/local/bin/ironflow-ipa"}},
		Agent:    &ignition.Agent{URL: "https://127.0.0.1:1", InfraEnvID: uuid.NewString(), Version: "test", Gate: true},
		Override: override,
	})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// enroll makes the machine's node.
func (r *realParts) enroll(t *testing.T, name string) *ironictest.Node {
	t.Helper()
	s, ok := r.fleet.State(name)
	if !ok {
		t.Fatalf("no machine is called %s", name)
	}
	return ironictest.Ironic{URL: r.lab.Ironic.URL, HTTP: r.lab.Ironic.HTTPClient()}.Enroll(t, ironictest.Spec{
		Name: name, MAC: r.fleet.System(name).NICs[0].MAC, BMC: r.lab.Emulator.URL, SystemID: "/redfish/v1/Systems/" + s.UUID,
		User: r.lab.Emulator.User, Password: r.lab.Emulator.Password, CAFile: r.lab.CAFile, ISO: r.images + "/live.iso", Clean: true,
	})
}

// waitFor waits until a machine is as the test wants it, and gives up rather than to hang.
func (r *realParts) waitFor(t *testing.T, name string, condition func(machine.Status) bool) (machine.Status, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()
	return r.fleet.WaitFor(ctx, name, condition)
}
