package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const patience = 20 * time.Second

// simulated is a machine's folder with a unit that plays a script.
func simulated(t *testing.T, script string) hostfile.Dir {
	t.Helper()
	host := hostfile.Dir{Root: t.TempDir()}
	unit := `[Unit]
ConditionPathExists=/run/ironflow/agent.gate
[Service]
Type=notify
NotifyAccess=all
ExecStart=/usr/local/bin/actor "env=INVOCATION_ID=/run/id" ready "status=waiting: x" ` + script + `
Restart=on-failure
RestartPreventExitStatus=90 91
TimeoutStopSec=1
`
	for path, text := range map[string]string{
		hostfile.BootIDPath():                       "boot-1\n",
		hostfile.UnitDir + "/" + hostfile.AgentUnit: unit,
		hostfile.RunDir + "/.keep":                  "",
	} {
		if err := os.MkdirAll(filepath.Dir(host.Path(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(host.Path(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return host
}

// start runs the lab's build of the program in the simulated machine.
func start(t *testing.T, binary, actor string, host hostfile.Dir, out *bytes.Buffer) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary, "start_assisted_install")
	cmd.Stdin = strings.NewReader(`{"node": {"uuid": "n"}, "ports": [], "args": {}}`)
	cmd.Stdout = out
	cmd.Env = []string{hostfile.RootEnv + "=" + host.Root, "IRONFLOW_STANDIN_BIN=" + filepath.Dir(actor)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// processesOf lists the processes that run the program.
func processesOf(t *testing.T, program string) (pids []string) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range dirs {
		if target, err := os.Readlink(link); err == nil && target == program {
			pids = append(pids, strings.Split(link, "/")[2])
		}
	}
	return pids
}

func TestAgentDiesWithTheStep(t *testing.T) {
	binary := systemdtest.Build(t, "github.com/ironflow/ironflow/test/cmd/ironflow-step")
	actor := systemdtest.BuildActor(t)
	for name, tc := range map[string]struct {
		signal syscall.Signal
		script string
		code   int
	}{
		"SIGTERM":             {syscall.SIGTERM, "", 5},
		"SIGTERM, deaf agent": {syscall.SIGTERM, "deaf", 5},
		"SIGKILL":             {syscall.SIGKILL, "deaf", -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			host := simulated(t, tc.script)
			cmd := start(t, binary, actor, host, &out)
			g.Eventually(host.Path("/run/id"), patience).Should(BeAnExistingFile())
			g.Eventually(func() []string { return processesOf(t, actor) }, patience).Should(HaveLen(1))
			g.Expect(cmd.Process.Signal(tc.signal)).To(Succeed())
			_ = cmd.Wait()
			g.Expect(cmd.ProcessState.ExitCode()).To(Equal(tc.code), out.String())
			g.Eventually(func() []string { return processesOf(t, actor) }, patience).Should(BeEmpty())
		})
	}
}

func TestListAsThePluginNeedsIt(t *testing.T) {
	g := NewWithT(t)
	out, err := exec.Command(systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step"), "list").Output()
	g.Expect(err).NotTo(HaveOccurred())
	var steps []map[string]any
	g.Expect(json.Unmarshal(out, &steps)).To(Succeed())
	priorities := map[string]float64{}
	for _, s := range steps {
		g.Expect(s).To(HaveKeyWithValue("interface", "deploy"))
		g.Expect(s).To(HaveKeyWithValue("reboot_requested", false))
		g.Expect(s["argsinfo"]).NotTo(BeNil())
		priorities[s["step"].(string)] = s["priority"].(float64)
	}
	g.Expect(priorities).To(HaveKeyWithValue("start_assisted_install", 0.0))
	g.Expect(priorities).To(HaveKeyWithValue("confirm_install", 79.0))
}

// TestAGoneReaderEndsNothing: IPA may die and leave the pipe behind broken; the
// installation goes on.
func TestAGoneReaderEndsNothing(t *testing.T) {
	binary := systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step")
	g := NewWithT(t)
	r, w, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Close()).To(Succeed())
	cmd := exec.Command(binary, "no-such-step")
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Run()
	g.Expect(w.Close()).To(Succeed())
	g.Expect(err).To(HaveOccurred())
	g.Expect(cmd.ProcessState.ExitCode()).To(Equal(2), "the step's own end, not SIGPIPE: %v", err)
}

func TestBinaryIsSmallAndFreeOfKubernetes(t *testing.T) {
	g := NewWithT(t)
	info, err := os.Stat(systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step", "-ldflags", "-s -w"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Size()).To(BeNumerically("<", 10<<20))
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", "github.com/ironflow/ironflow/cmd/ironflow-step").Output()
	g.Expect(err).NotTo(HaveOccurred())
	for dep := range strings.Lines(string(out)) {
		g.Expect(dep).NotTo(HavePrefix("k8s.io/"))
		g.Expect(dep).NotTo(HavePrefix("sigs.k8s.io/"))
		g.Expect(dep).NotTo(HavePrefix("github.com/ironflow/ironflow/hub"))
		g.Expect(dep).NotTo(HavePrefix("github.com/ironflow/ironflow/test/"), "the stand-in is for the lab's program only")
	}
}
