//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/needs"
)

// agent is a machine that runs the agent of a live image, in dry run.
type agent struct {
	w    *world
	pool *pool
	root string
	// command is the process of the last boot.
	command *exec.Cmd
	said    *bytes.Buffer
	ended   chan int // its exit status; -1: killed
}

// machines counts those of all tests: one installed cluster has the nodes of many of them, and
// a node is told by its address as well as by its name.
var machines atomic.Int64

// newMachine is a machine's hardware and how its installation goes.
func (w *world) newMachine() *scenario.Scenario {
	w.booted++
	n, address := w.booted, 10+machines.Add(1)
	return &scenario.Scenario{
		Name: fmt.Sprintf("%s-node-%d", w.short(), n), // one installed cluster has the nodes of all tests
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box", Serial: fmt.Sprintf("SER-%s-%d", w.Name(), n)},
			CPU:       scenario.CPU{Architecture: "x86_64", Model: "Example CPU", Count: 32, MHz: 2400, Flags: []string{"vmx", "sse4_2", "avx2"}},
			MemoryMiB: 131072,
			NICs:      []scenario.NIC{{Name: "eno1", MAC: fmt.Sprintf("52:54:00:00:00:%02x", n), IPv4: []string{fmt.Sprintf("198.51.100.%d/24", address)}, Gateway: "198.51.100.1", SpeedMbps: 25000}},
			Disks:     []scenario.Disk{{Name: "nvme0n1", SizeGiB: 960, Type: "NVME", Serial: fmt.Sprintf("N-%d", n), WWN: fmt.Sprintf("eui.%016x", n)}},
		},
		Install: scenario.Install{DefaultStage: scenario.Duration{Duration: 300 * time.Millisecond}},
	}
}

// boot makes a machine and boots its live image.
func (w *world) boot(p *pool, change ...func(*scenario.Scenario)) *agent {
	w.Helper()
	machine := w.newMachine()
	for _, c := range change {
		c(machine)
	}
	a := &agent{w: w, pool: p, root: filepath.Join(w.dir, machine.Name)}
	w.Expect(os.MkdirAll(a.root, 0o700)).To(Succeed())
	w.Expect(machine.Save(a.scenario())).To(Succeed())
	ca, err := os.ReadFile(w.hub.CA)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(os.WriteFile(filepath.Join(a.root, "ca.crt"), ca, 0o600)).To(Succeed())
	w.Cleanup(a.off)
	p.agents = append(p.agents, a)
	a.reboot()
	return a
}

func (a *agent) scenario() string { return filepath.Join(a.root, "scenario.yaml") }

// off takes the power away.
func (a *agent) off() {
	if a.ended == nil {
		return
	}
	_ = a.command.Process.Kill()
	<-a.ended
	a.ended = nil
	if a.w.Failed() {
		text := a.said.String()
		a.w.Log(a.root + ":\n" + text[max(0, len(text)-3000):])
	}
}

// reboot boots the live image, also where it ran already.
func (a *agent) reboot() {
	a.w.Helper()
	a.off()
	dir := hostfile.Dir{Root: a.root}
	boot := dir.Path(hostfile.BootIDPath())
	a.w.Expect(os.RemoveAll(dir.Path("/run"))).To(Succeed(), "it was in memory")
	a.w.Expect(os.MkdirAll(filepath.Dir(boot), 0o755)).To(Succeed())
	a.w.Expect(os.WriteFile(boot, []byte(uuid.NewString()+"\n"), 0o600)).To(Succeed())
	a.said = &bytes.Buffer{}
	a.command = exec.Command(needs.Shipped(a.w.T, "ironflow-agent"), "agent", "--url", a.w.user.URL, "--infra-env-id", a.pool.id, "--cacert", "/ca.crt",
		"--agent-version", "quay.example/ironflow/agent:test", "--interval", "1", "--with-journal-logging=false", "--with-text-logging=false", "--with-stdout-logging",
		"--dry-run", "--dry-scenario", a.scenario())
	a.command.Env = append(os.Environ(), hostfile.RootEnv+"="+a.root, "PULL_SECRET_TOKEN="+a.pool.token, "INVOCATION_ID="+strings.ReplaceAll(uuid.NewString(), "-", ""))
	a.command.Stdout, a.command.Stderr = a.said, a.said
	a.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	a.w.Expect(a.command.Start()).To(Succeed())
	a.ended = make(chan int, 1)
	go func(c *exec.Cmd, ended chan<- int) {
		_ = c.Wait() // the status says it
		ended <- c.ProcessState.ExitCode()
	}(a.command, a.ended)
}

// code waits until the agent has ended and returns its exit status.
func (a *agent) code() int {
	a.w.Helper()
	select {
	case status := <-a.ended:
		a.ended = nil
		return status
	case <-time.After(patience):
		a.w.Fatal("the agent goes on: " + a.said.String())
		return -1
	}
}

// installs waits until all machines of the pool are written and have left the live image.
func (w *world) installs(p *pool) {
	w.Helper()
	for _, a := range p.agents {
		w.Expect(a.code()).To(Equal(0), "installed: %s", a.said)
	}
}

// host finds the machine's host by its serial number.
func (w *world) host(a *agent) (found wire.Host) {
	w.Helper()
	machine, err := scenario.Load(a.scenario())
	w.Expect(err).NotTo(HaveOccurred())
	for _, h := range w.hosts(a.pool) {
		if strings.Contains(h.Inventory, `"`+machine.Hardware.System.Serial+`"`) {
			found = h
		}
	}
	w.Expect(found.ID).NotTo(BeEmpty(), "the hub knows %s", machine.Name)
	return found
}

// written counts how often the host's disk was begun to be written.
func (w *world) written(host string) (n int) {
	w.Helper()
	var events wire.EventList
	w.do(http.MethodGet, "/events?host_id="+host, nil, &events)
	for _, e := range events {
		if strings.Contains(e.Message, string(wire.HostStageWritingImageToDisk)) && !strings.Contains(e.Message, "%") {
			n++
		}
	}
	return n
}
