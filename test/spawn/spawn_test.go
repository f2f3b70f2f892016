package spawn

import (
	"os/exec"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// TestWhatAThreadHasStartedEndsWithIt whatever thread of the program it was given, the first one included, which does not
// end before the program.
func TestWhatAThreadHasStartedEndsWithIt(t *testing.T) {
	g := NewWithT(t)
	const threads = 32 // of which one gets the first thread, which is idle
	all, processes := make([]*Thread, threads), make([]*exec.Cmd, threads)
	for i := range all {
		all[i], processes[i] = NewThread(), exec.CommandContext(t.Context(), "sleep", "600")
		processes[i].SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		g.Expect(all[i].Do(processes[i].Start)).To(Succeed())
	}
	for i, p := range processes {
		all[i].Close()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.Wait() // it was killed
		}()
		g.Eventually(ended, "30s").Should(BeClosed())
	}
}
