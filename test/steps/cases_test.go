package steps_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/confirm"
)

// realCase is one run of a deploy step on the booted machine.
type realCase struct {
	name string
	// step is the step's name, start_assisted_install when empty, with its args as JSON.
	step, args string
	// faults and writing shape the agent's scenario; waits makes the hub order nothing.
	faults  []scenario.Fault
	writing time.Duration
	waits   bool
	// hub is how the hub behaves otherwise; needs skips the case where it cannot be run.
	hub   behaviour
	needs func(t *testing.T)
	// script replaces the agent by the actor, for what an agent would not do; dropIn changes the unit.
	script []string
	dropIn string
	// deadlines is the image's deadlines.json.
	deadlines string
	// before happens before the step starts, during while it runs, after when it has ended.
	before func(t *testing.T, g *WithT, l *lab)
	during func(t *testing.T, g *WithT, l *lab, p *program)
	after  func(t *testing.T, g *WithT, l *lab, r report)

	code   int
	reason string // a part of it
	detail string // a part of one line
}

// run runs the case on the lab's machine.
func (c realCase) run(t *testing.T, l *lab) {
	g := NewWithT(t)
	if c.needs != nil {
		c.needs(t)
	}
	l.freshBoot(t, c)
	defer l.quiet(t)
	if c.before != nil {
		c.before(t, g, l)
	}
	name := c.step
	if name == "" {
		name = assisted.Name
	}
	p := l.runStep(t, name, c.args)
	if c.during != nil {
		c.during(t, g, l, p)
	}
	if c.code < 0 {
		return // the program was killed on purpose
	}
	code, r := p.end(t, g)
	g.Expect(code).To(Equal(c.code), "%+v", r)
	g.Expect(r.Reason).To(ContainSubstring(c.reason))
	g.Expect(strings.Join(r.Detail, "\n")).To(ContainSubstring(c.detail))
	g.Expect(l.Host.Path(hostfile.Gate)).NotTo(BeAnExistingFile(), "the gate must be closed at the end")
	if c.after != nil {
		c.after(t, g, l, r)
	}
}

const (
	writeStage = "Writing image to disk"
	soon       = "[Service]\nRestartSec=50ms\n"
)

var failsAtWriting = []scenario.Fault{{Kind: scenario.FaultInstall, Stage: writeStage, Text: "input/output error at sector 4711"}}

func installed(t *testing.T, g *WithT, l *lab, r report) {
	g.Expect(r.Result).To(HaveKeyWithValue("outcome", "installed"))
	var m hostfile.Installed
	g.Expect(l.Host.Read(hostfile.InstalledFile, &m)).To(Succeed())
	g.Expect(m.BootID).To(Equal(l.BootID))
	g.Expect(r.Result).To(HaveKeyWithValue("invocation_id", m.InvocationID))
}

// exits, hangs and says are faults of the agent at a stage.
func exits(stage string, code int) []scenario.Fault {
	return []scenario.Fault{{Kind: scenario.FaultAgentExits, Stage: stage, Code: code}}
}

func hangs(stage string) []scenario.Fault {
	return []scenario.Fault{{Kind: scenario.FaultAgentHangs, Stage: stage}}
}

func says(stage, text string, count int) []scenario.Fault {
	return []scenario.Fault{{Kind: scenario.FaultAgentStatus, Stage: stage, Text: text, Count: count}}
}

func installedAndConfirmed(t *testing.T, g *WithT, l *lab, r report) {
	installed(t, g, l, r)
	confirmed(t, g, l, r)
}

func installedAfterRestart(t *testing.T, g *WithT, l *lab, r report) {
	installed(t, g, l, r)
	g.Expect(r.Result).To(HaveKeyWithValue("restarts", 1.0))
}

func cancel(when string) func(*testing.T, *WithT, *lab, *program) {
	return func(_ *testing.T, g *WithT, _ *lab, p *program) {
		p.says(g, when)
		g.Expect(p.cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
	}
}

func confirmed(t *testing.T, g *WithT, l *lab, _ report) {
	code, r := l.runStep(t, confirm.Name, "").end(t, g)
	g.Expect(code).To(Equal(exitcode.StepDone), "%+v", r)
	g.Expect(r.Result).To(HaveKeyWithValue("outcome", "confirmed"))
}

func confirmFails(reason string) func(*testing.T, *WithT, *lab, report) {
	return func(t *testing.T, g *WithT, l *lab, _ report) {
		code, r := l.runStep(t, confirm.Name, "").end(t, g)
		g.Expect(code).To(Equal(exitcode.StepFailed))
		g.Expect(r.Reason).To(ContainSubstring(reason))
	}
}
