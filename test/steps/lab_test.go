package steps_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/output"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	// patience is more than a cancelled unit may take.
	patience     = 40 * time.Second
	nodeUUID     = "33333333-3333-4333-8333-333333333333"
	scenarioFile = "/etc/ironflow/scenario.yaml"
	ipaProgram   = "/usr/local/bin/played-ipa"
	dropIn       = hostfile.UnitDir + "/" + hostfile.AgentUnit + ".d/"
)

// lab is one machine with its hub, shared by all cases.
type lab struct {
	// machine is the booted systemd; nil where the stand-in plays it.
	machine *systemdtest.Machine
	Host    hostfile.Dir
	BootID  string
	hub     *hub
	binary  string
	// env is what the step program gets besides the root.
	env   []string
	image *liveimage.Decoded
}

// render makes the live image's files for a hub, as imagecustomization does.
func render(t *testing.T, url string) *liveimage.Decoded {
	t.Helper()
	raw, err := ignition.Build(ignition.HostConfig{
		IPA:   &ignition.IPA{APIURLs: []string{"https://192.0.2.1"}, Insecure: true, Command: []string{ipaProgram}},
		Agent: &ignition.Agent{URL: url, InfraEnvID: infraEnv, Version: image, Token: "secret-token", Gate: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := liveimage.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// Run runs a command in the booted machine.
func (l *lab) Run(t *testing.T, name string, args ...string) string {
	t.Helper()
	return l.machine.Run(t, name, args...)
}

// freshBoot brings the machine back to what it is right after its boot: the
// image's files, nothing in /run/ironflow, no unit that runs or has failed.
func (l *lab) freshBoot(t *testing.T, c realCase) {
	t.Helper()
	path := l.Host.Path(filepath.Join(hostfile.UnitDir, hostfile.AgentUnit))
	for _, p := range []string{l.Host.Path(hostfile.RunDir), l.Host.Path(hostfile.ConfigDir), l.Host.Path(dropIn), path, l.Host.Path("/var/lib/ironflow")} {
		if err := os.RemoveAll(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range l.image.Files {
		if strings.HasPrefix(f.Path, hostfile.ConfigDir) {
			l.write(t, f.Path, f.Data)
		}
	}
	for _, u := range l.image.Units {
		if u.Name == hostfile.AgentUnit {
			l.write(t, filepath.Join(hostfile.UnitDir, u.Name), []byte(u.Contents))
		}
	}
	// The seams of a dry run, and a machine that need not wait for a network.
	seams := "[Service]\nEnvironment=DRY_ENABLE=true DRY_SCENARIO=" + l.scenario() + "\n"
	l.write(t, dropIn+"10-dry-run.conf", []byte(seams))
	l.write(t, scenarioFile, c.machine(t))
	if len(c.script) > 0 {
		var exec strings.Builder
		exec.WriteString("[Service]\nExecStart=\nExecStart=" + systemdtest.ActorPath)
		for _, word := range c.script {
			fmt.Fprintf(&exec, " %q", strings.ReplaceAll(word, "%", "%%"))
		}
		l.write(t, dropIn+"20-script.conf", []byte(exec.String()+"\n"))
	}
	if c.dropIn != "" {
		l.write(t, dropIn+"30-case.conf", []byte(c.dropIn))
	}
	if c.deadlines != "" {
		l.write(t, hostfile.Deadlines, []byte(c.deadlines))
	}
	l.hub.reset(!c.waits, c.hub)
	if l.machine != nil {
		l.Run(t, "systemctl", "daemon-reload")
	}
}

// scenario is where the agent finds its scenario: the stand-in's processes see
// this machine's files.
func (l *lab) scenario() string {
	if l.machine == nil {
		return l.Host.Path(scenarioFile)
	}
	return scenarioFile
}

// quiet ends whatever a case left running.
func (l *lab) quiet(t *testing.T) {
	t.Helper()
	if l.machine == nil {
		return // the stand-in's processes have died with the step
	}
	l.write(t, dropIn+"99-quiet.conf", []byte("[Service]\nTimeoutStopSec=1\n"))
	l.Run(t, "sh", "-c", "systemctl daemon-reload; systemctl kill -s KILL agent.service; systemctl stop agent.service; systemctl reset-failed agent.service; true")
}

func (l *lab) write(t *testing.T, path string, data []byte) {
	t.Helper()
	path = l.Host.Path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// machine is the case's scenario file.
func (c realCase) machine(t *testing.T) []byte {
	t.Helper()
	s := &scenario.Scenario{
		Name: "node-1",
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box", Serial: "SER-1"},
			CPU:       scenario.CPU{Architecture: "x86_64", Model: "Example CPU", Count: 8, MHz: 2400},
			MemoryMiB: 32768,
			NICs:      []scenario.NIC{{Name: "eth0", MAC: "52:54:00:00:00:01", IPv4: []string{"192.0.2.10/24"}, Gateway: "192.0.2.1"}},
			Disks:     []scenario.Disk{{Name: "sda", SizeGiB: 120, Type: "SSD", WWN: "0x5000c500a0000001"}},
		},
		Install: scenario.Install{DefaultStage: scenario.Duration{Duration: 20 * time.Millisecond}, Stages: map[string]scenario.Duration{}},
		Faults:  c.faults,
	}
	if c.writing > 0 {
		s.Install.Stages["Writing image to disk"] = scenario.Duration{Duration: c.writing}
	}
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := s.Save(file); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// program is one running ironflow-step.
type program struct {
	cmd    *exec.Cmd
	stdout output.Buffer
	stderr output.Buffer
	done   chan struct{}
}

// runStep starts the step program as IPA's container sees the host.
func (l *lab) runStep(t *testing.T, name, args string) *program {
	t.Helper()
	if args == "" {
		args = "{}"
	}
	p := &program{cmd: exec.Command(l.binary, name), done: make(chan struct{})}
	node := fmt.Sprintf(`{"uuid": %q, "driver_internal_info": {"deploy_steps": [{"step": "start_assisted_install", "interface": "deploy"}]}}`, nodeUUID)
	p.cmd.Stdin = strings.NewReader(`{"node": ` + node + `, "ports": [], "args": ` + args + `}`)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.Env = append([]string{hostfile.RootEnv + "=" + l.Host.Root, "PATH=/usr/bin:/bin"}, l.env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("%s:\n%s%s", name, p.stderr.String(), p.stdout.String())
		}
	})
	return p
}

// report is the last line of a step.
type report struct {
	Outcome string         `json:"outcome"`
	Reason  string         `json:"reason"`
	Detail  []string       `json:"detail"`
	Result  map[string]any `json:"result"`
}

// end waits for the program and returns its exit code and last line.
func (p *program) end(t *testing.T, g *WithT) (int, report) {
	t.Helper()
	g.Eventually(p.done, patience).Should(BeClosed(), "the step program must end")
	lines := strings.Split(strings.TrimSpace(p.stdout.String()), "\n")
	var r report
	g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &r)).To(Succeed(), p.stdout.String())
	return p.cmd.ProcessState.ExitCode(), r
}

// says waits until the step has reported something.
func (p *program) says(g *WithT, text string) {
	g.Eventually(p.stdout.String, patience).Should(ContainSubstring(text))
}
