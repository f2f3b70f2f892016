package assisted

import (
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// TestTheStopOfACrashLoopIsNoCrash: systemd starts the unit once more just before
// the step stops it. How that run ends says nothing about why the others died.
func TestTheStopOfACrashLoopIsNoCrash(t *testing.T) {
	g := NewWithT(t)
	now := time.Now()
	killed := systemd.Properties{ActiveState: "activating", SubState: "auto-restart", Result: "signal", ExecMainCode: systemd.Killed, ExecMainStatus: int(syscall.SIGKILL), NRestarts: 5}
	o := Observation{}
	o.see(killed, hostfile.Status{}, now)
	o.Stopped, o.Clocks.Stopped, o.Clocks.Restarts = CrashLoop, now, []time.Time{now}
	stopped := systemd.Properties{ActiveState: "failed", SubState: "failed", Result: "exit-code", ExecMainCode: systemd.Exited, ExecMainStatus: exitcode.AgentCancelled, NRestarts: 5}
	o.see(stopped, hostfile.Status{}, now.Add(time.Second))
	g.Expect(headline(o, CrashLoop, Evidence{Unit: "agent.service"})).To(ContainSubstring("the agent was killed by signal 9 (SIGKILL)"))
	g.Expect(detail(o, Evidence{Unit: "agent.service"})).To(ContainElement("main process: was killed by signal 9 (SIGKILL)"))
}
