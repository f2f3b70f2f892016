package lab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab"
)

// envVictim makes the test binary play a program that runs a lab in the folder
// that it names, tells its processes, and waits to be killed.
const envVictim = "LAB_TEST_VICTIM"

// allProcesses are five guards, five programs, and Ironic's worker at least.
const allProcesses = 11

// runVictim is that program.
func runVictim(dir string) error {
	ctx := context.Background()
	l, err := lab.Start(ctx, lab.Options{
		StateDir: dir, ControlPlane: &lab.ControlPlaneOptions{Controllers: true}, Ironic: &lab.IronicOptions{}, Emulator: &lab.EmulatorOptions{},
	})
	if err != nil {
		return err
	}
	// Ironic answers a little before it has forked its worker.
	for range time.Tick(50 * time.Millisecond) {
		if len(l.Processes()) >= allProcesses {
			break
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(l.Processes()); err != nil {
		return err
	}
	select {}
}

func TestNothingOutlivesAKilledLab(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real parts; run without -short")
	}
	g := NewWithT(t)
	dir := t.TempDir()
	victim := exec.Command("/proc/self/exe")
	victim.Env = append(os.Environ(), envVictim+"="+dir)
	victim.Stderr = os.Stderr
	stdout, err := victim.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(victim.Start()).To(Succeed())
	t.Cleanup(func() { _ = victim.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	g.Expect(err).NotTo(HaveOccurred())
	var pids []int
	g.Expect(json.Unmarshal(line, &pids)).To(Succeed())
	g.Expect(len(pids)).To(BeNumerically(">=", allProcesses))
	g.Expect(mentioning(dir)).NotTo(BeEmpty())

	g.Expect(victim.Process.Kill()).To(Succeed())
	killed := time.Now()
	_ = victim.Wait()

	g.Eventually(func() []int { return living(pids) }, "20s", "20ms").Should(BeEmpty())
	t.Logf("all %d processes were gone %s after SIGKILL", len(pids), time.Since(killed).Round(time.Millisecond))
	g.Expect(mentioning(dir)).To(BeEmpty())

	// The folder is free for the next lab.
	next, err := lab.New(lab.Options{StateDir: dir})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.Stop(t.Context())).To(Succeed())
}

// living filters the processes that still run.
func living(pids []int) []int {
	var found []int
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			found = append(found, pid)
		}
	}
	return found
}

// mentioning lists the processes, other than this one, with the text in their
// command line: whoever was started for the folder and escaped.
func mentioning(text string) []int {
	var found []int
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil
	}
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(line), text) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			found = append(found, pid)
		}
	}
	return found
}
