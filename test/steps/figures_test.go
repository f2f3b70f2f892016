//go:build e2e

package steps_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	// benchEnv switches the measurements on; test/bench/steps sets it.
	benchEnv = "IRONFLOW_BENCH"
	rounds   = 100
	waitFor  = 60 * time.Second
)

// figures are what the bench prints as JSON.
type figures struct {
	ExitToResultP50 float64 `json:"exit_to_result_p50_s"`
	ExitToResultP99 float64 `json:"exit_to_result_p99_s"`
	ExitToResultMax float64 `json:"exit_to_result_max_s"`
	BinaryMiB       float64 `json:"binary_mib"`
	RSSMiB          float64 `json:"rss_mib"`
	SwitchesIn60s   int     `json:"voluntary_switches_60s"`
}

func TestFigures(t *testing.T) {
	if os.Getenv(benchEnv) == "" {
		t.Skip("a measurement: run make bench-steps")
	}
	g := NewWithT(t)
	l := newLab(t)
	l.binary = systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step", "-ldflags", "-s -w")
	var f figures
	info, err := os.Stat(l.binary)
	g.Expect(err).NotTo(HaveOccurred())
	f.BinaryMiB = float64(info.Size()) / (1 << 20)

	l.pin(t)
	var took []time.Duration
	for range rounds {
		took = append(took, l.exitToResult(t, g))
	}
	slices.Sort(took)
	f.ExitToResultP50 = took[len(took)/2].Seconds()
	f.ExitToResultP99 = took[(len(took)*99+99)/100-1].Seconds() // the nearest rank; the last one is the maximum
	f.ExitToResultMax = took[len(took)-1].Seconds()
	f.SwitchesIn60s, f.RSSMiB = l.whileWaiting(t, g)
	raw, err := json.Marshal(f)
	g.Expect(err).NotTo(HaveOccurred())
	fmt.Printf("figures: %s\n", raw)
}

// pin has systemd keep the agent's unit loaded after its end, and with it the time
// of that end: a unit that is inactive and that no loaded unit names is forgotten.
func (l *lab) pin(t *testing.T) {
	const unit = "pin-agent.service"
	l.write(t, filepath.Join(hostfile.UnitDir, unit),
		[]byte("[Unit]\nAfter="+hostfile.AgentUnit+"\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"))
	l.Run(t, "systemctl", "daemon-reload")
	l.Run(t, "systemctl", "start", unit)
}

// exitToResult measures from the end of the agent's process, as systemd has seen
// it, to the end of the step program.
func (l *lab) exitToResult(t *testing.T, g *WithT) time.Duration {
	l.freshBoot(t, realCase{})
	defer l.quiet(t)
	p := l.runStep(t, assisted.Name, "")
	<-p.done
	end := monotonic(t)
	code, r := p.end(t, g)
	g.Expect(code).To(Equal(exitcode.StepDone), "%+v", r)
	exited, err := strconv.ParseInt(l.Run(t, "systemctl", "show", "-P", "ExecMainExitTimestampMonotonic", hostfile.AgentUnit), 10, 64)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(exited).To(BeNumerically(">", 0), "systemd has forgotten when the agent ended")
	return end - time.Duration(exited)*time.Microsecond
}

// monotonic is the kernel's clock that systemd's timestamps are of.
func monotonic(t *testing.T) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}

var (
	voluntary = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s+(\d+)`)
	peakRSS   = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB`)
)

// whileWaiting counts how often the program wakes up while the agent waits, and
// returns its peak resident set in MiB.
func (l *lab) whileWaiting(t *testing.T, g *WithT) (wakeUps int, rss float64) {
	l.freshBoot(t, realCase{waits: true})
	defer l.quiet(t)
	p := l.runStep(t, assisted.Name, "")
	p.says(g, "waiting")
	<-time.After(2 * time.Second) // its own progress timer and the runtime's background work
	before := switches(t, p.cmd.Process.Pid)
	<-time.After(waitFor)
	after := switches(t, p.cmd.Process.Pid)
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	g.Expect(err).NotTo(HaveOccurred())
	m := peakRSS.FindSubmatch(raw)
	g.Expect(m).NotTo(BeNil())
	kib, err := strconv.Atoi(string(m[1]))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(l.Host.Path(hostfile.StopFile), nil, 0o600)).To(Succeed())
	p.end(t, g)
	return after - before, float64(kib) / 1024
}

// switches adds up all threads.
func switches(t *testing.T, pid int) (sum int) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		if m := voluntary.FindSubmatch(raw); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			sum += n
		}
	}
	return sum
}
