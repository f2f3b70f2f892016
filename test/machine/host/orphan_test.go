package host_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/machine/host"
)

// labEnv turns the test binary into a lab with one machine in the folder.
const labEnv = "IRONFLOW_TEST_LAB"

func TestMain(m *testing.M) {
	if dir := os.Getenv(labEnv); dir != "" {
		os.Exit(runLab(dir))
	}
	os.Exit(m.Run())
}

// runLab runs a program that leaves a child behind, as hostile as a shell can be.
func runLab(dir string) int {
	if _, err := host.StartJanitor(dir); err != nil {
		return 1
	}
	err := host.NewStarter().Run(context.Background(), filepath.Join(dir, "m", "root"), host.Command{
		Path: "/bin/sh", Args: []string{"-c", "setsid sleep 1000 & sleep 1000"},
	})
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestProcessesDieWithAKilledLab kills a lab with signal 9: nobody cleans up
// then but the kernel.
func TestProcessesDieWithAKilledLab(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(dir, "m", "root"), 0o755)).To(Succeed())
	lab := exec.Command("/proc/self/exe")
	lab.Env = append(os.Environ(), labEnv+"="+dir)
	g.Expect(lab.Start()).To(Succeed())
	processes := func() []int { return host.Processes(dir) }
	g.Eventually(processes, 20*time.Second, time.Millisecond).Should(HaveLen(3))
	g.Expect(lab.Process.Kill()).To(Succeed())
	_ = lab.Wait()
	g.Eventually(processes, 20*time.Second, time.Millisecond).Should(BeEmpty())
}
