//go:build e2e

package steps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/confirm"
)

func brokenDependency(t *testing.T, _ *WithT, l *lab) {
	l.write(t, filepath.Join(hostfile.UnitDir, "broken.service"), []byte("[Service]\nType=oneshot\nExecStart=/bin/false\n"))
	l.Run(t, "systemctl", "daemon-reload")
}

func startBeforeGate(t *testing.T, g *WithT, l *lab) {
	l.Run(t, "systemctl", "start", hostfile.AgentUnit)
	g.Expect(l.Run(t, "systemctl", "show", "-P", "ActiveState", hostfile.AgentUnit)).To(Equal("inactive"))
}

func startByHand(t *testing.T, g *WithT, l *lab) {
	l.write(t, hostfile.Gate, nil)
	l.Run(t, "systemctl", "start", hostfile.AgentUnit)
	g.Expect(os.Remove(l.Host.Path(hostfile.Gate))).To(Succeed())
}

func removeUnit(t *testing.T, g *WithT, l *lab) {
	g.Expect(os.Remove(l.Host.Path(filepath.Join(hostfile.UnitDir, hostfile.AgentUnit)))).To(Succeed())
	g.Expect(os.RemoveAll(l.Host.Path(dropIn))).To(Succeed())
	l.Run(t, "systemctl", "daemon-reload")
}

func maskUnit(t *testing.T, g *WithT, l *lab) {
	removeUnit(t, g, l)
	l.Run(t, "systemctl", "mask", hostfile.AgentUnit)
}

func markerOf(boot, invocation string) func(*testing.T, *WithT, *lab) {
	return func(_ *testing.T, g *WithT, l *lab) {
		if boot == "" {
			boot = l.BootID
		}
		g.Expect(l.Host.Write(hostfile.InstalledFile, hostfile.Installed{BootID: boot, InvocationID: invocation})).To(Succeed())
	}
}

func stateOf(boot string) func(*testing.T, *WithT, *lab) {
	return func(_ *testing.T, g *WithT, l *lab) {
		g.Expect(l.Host.Write(hostfile.StepFile, hostfile.StepState{BootID: boot, NodeUUID: nodeUUID, Step: assisted.Name})).To(Succeed())
	}
}

func stopFile(t *testing.T, g *WithT, l *lab, p *program) {
	p.says(g, "waiting")
	l.write(t, hostfile.StopFile, []byte("the operator\n"))
}

func unitStopped(t *testing.T, g *WithT, l *lab, _ report) {
	state, _, _ := strings.Cut(l.Run(t, "systemctl", "show", "-P", "ActiveState", hostfile.AgentUnit), "\n")
	g.Expect(state).To(Or(Equal("inactive"), Equal("failed")))
}

func twoAtOnce(t *testing.T, g *WithT, l *lab, p *program) {
	p.says(g, "waiting")
	code, r := l.runStep(t, assisted.Name, "").end(t, g)
	g.Expect(code).To(Equal(exitcode.StepFailed))
	g.Expect(r.Reason).To(ContainSubstring("another step program"))
	g.Expect(l.Host.Path(hostfile.Gate)).To(BeAnExistingFile(), "the first step's gate stays open")
	cancel("waiting")(t, g, l, p)
}

// stepFileFrom restarts IPA's container in the installation, with a clock that was
// set meanwhile: what the next step program reads was written so long ago, or in
// the future.
func stepFileFrom(ago time.Duration) func(*testing.T, *WithT, *lab, *program) {
	follow := killedAndFollowed(assisted.Name)
	return func(t *testing.T, g *WithT, l *lab, p *program) {
		p.says(g, writeStage)
		g.Expect(p.cmd.Process.Kill()).To(Succeed())
		g.Eventually(p.done, patience).Should(BeClosed())
		var state hostfile.StepState
		g.Expect(l.Host.Read(hostfile.StepFile, &state)).To(Succeed())
		state.StartedAt = state.StartedAt.Add(ago)
		g.Expect(l.Host.Write(hostfile.StepFile, state)).To(Succeed())
		follow(t, g, l, p)
	}
}

// killedAndFollowed kills the step in the installation, as a restart of IPA's
// container does, and lets another one take over.
func killedAndFollowed(next string) func(*testing.T, *WithT, *lab, *program) {
	return func(t *testing.T, g *WithT, l *lab, p *program) {
		p.says(g, writeStage)
		_ = p.cmd.Process.Kill() // it may be dead already
		g.Eventually(p.done, patience).Should(BeClosed())
		g.Expect(l.Run(t, "systemctl", "is-active", hostfile.AgentUnit)).To(Equal("active"), "the agent goes on")
		code, r := l.runStep(t, next, "").end(t, g)
		g.Expect(code).To(Equal(exitcode.StepDone), "%+v", r)
		g.Expect(l.Host.Path(hostfile.InstalledFile)).To(BeAnExistingFile())
	}
}

// deadlineGoesOn restarts IPA's container in a stage: whoever takes over has the
// deadlines that the step was asked for, from where they were.
func deadlineGoesOn(t *testing.T, g *WithT, l *lab, p *program) {
	p.says(g, writeStage)
	var before, after hostfile.StepState
	g.Eventually(func() int64 {
		_ = l.Host.Read(hostfile.StepFile, &before) // it is being written
		return before.Clocks.Stage
	}, patience).Should(BeNumerically(">", 0))
	g.Expect(p.cmd.Process.Kill()).To(Succeed())
	g.Eventually(p.done, patience).Should(BeClosed())
	code, r := l.runStep(t, confirm.Name, "").end(t, g)
	g.Expect(code).To(Equal(exitcode.StepDeadline), "%+v", r)
	g.Expect(r.Reason).To(ContainSubstring(`stage "Writing image to disk" took longer than 8s (stage deadline)`))
	g.Expect(l.Host.Read(hostfile.StepFile, &after)).To(Succeed())
	g.Expect(after.Clocks.Stage).To(Equal(before.Clocks.Stage), "when the stage began, in milliseconds since the boot")
}

// untilGivenUp is longer than the step waits for a systemd that does not answer.
const untilGivenUp = 4 * time.Minute

func freeze(t *testing.T, _ *WithT, l *lab) { l.machine.Freeze(t) }

// untilItGivesUp lets systemd go on when the step has ended.
func untilItGivesUp(t *testing.T, g *WithT, l *lab, p *program) {
	defer l.machine.Thaw()
	g.Eventually(p.done, untilGivenUp).Should(BeClosed(), "the step program must end")
}

func standsStillAt(when string) func(*testing.T, *WithT, *lab, *program) {
	return func(t *testing.T, g *WithT, l *lab, p *program) {
		p.says(g, when)
		l.machine.Freeze(t)
		defer l.machine.Thaw()
		g.Consistently(p.done, 5*time.Second).ShouldNot(BeClosed())
	}
}

// sees waits until the step has told of something.
func sees(text string) func(*testing.T, *WithT, *lab, *program) {
	return func(_ *testing.T, g *WithT, _ *lab, p *program) { p.says(g, text) }
}

// hangingStop lets every part of the unit's stop take as long as systemd allows,
// which is more than the step does for the whole.
const hangingStop = "[Service]\nTimeoutStopSec=5\n" +
	`ExecStop=/bin/sh -c 'trap "" TERM; sleep 60'` + "\n" + `ExecStopPost=/bin/sh -c 'trap "" TERM; sleep 60'` + "\n"

func stopLater(when string) func(*testing.T, *WithT, *lab, *program) {
	return func(t *testing.T, g *WithT, l *lab, p *program) {
		p.says(g, when)
		l.Run(t, "systemctl", "stop", "--no-block", hostfile.AgentUnit)
	}
}

func stopAfterMarker(t *testing.T, g *WithT, l *lab, _ *program) {
	g.Eventually(l.Host.Path(hostfile.InstalledFile), patience).Should(BeAnExistingFile())
	l.Run(t, "systemctl", "stop", hostfile.AgentUnit)
}

func slowDependency(t *testing.T, _ *WithT, l *lab) {
	l.write(t, filepath.Join(hostfile.UnitDir, "slow.service"), []byte("[Service]\nType=oneshot\nExecStart=/bin/sleep 5\n"))
	l.Run(t, "systemctl", "daemon-reload")
}

func busRestartsWhileQueued(t *testing.T, g *WithT, l *lab, _ *program) {
	g.Eventually(func() string { return l.Run(t, "systemctl", "list-jobs", "--no-legend") }, patience).Should(ContainSubstring(hostfile.AgentUnit))
	l.Run(t, "systemctl", "restart", "dbus.service")
}

// moveClockEnv allows the cases that move the clock of the whole computer for two
// seconds; there is no clock of the day for a single process or container.
const moveClockEnv = "IRONFLOW_MOVE_CLOCK"

// clockMayMove skips where nobody has allowed it, or nobody can.
func clockMayMove(t *testing.T) {
	if os.Getenv(moveClockEnv) == "" {
		t.Skipf("this moves the clock of the computer for two seconds: set %s=1 where that harms nobody", moveClockEnv)
	}
	var now unix.Timex
	now.Modes = unix.ADJ_SETOFFSET // by nothing
	if _, err := unix.Adjtimex(&now); err != nil {
		t.Skipf("the clock cannot be set here: %v", err)
	}
}

// clockJumps moves the clock in the installation, and back two seconds later.
func clockJumps(by time.Duration) func(*testing.T, *WithT, *lab, *program) {
	return func(t *testing.T, g *WithT, _ *lab, p *program) {
		p.says(g, writeStage)
		g.Expect(moveClock(by)).To(Succeed())
		defer func() {
			if err := moveClock(-by); err != nil {
				t.Errorf("the clock is still wrong by %v: %v", by, err)
			}
		}()
		select {
		case <-p.done:
			t.Error("the step took the jump for an end")
		case <-time.After(2 * time.Second):
		}
	}
}

// moveClock shifts the clock, so that no time is lost between two settings.
func moveClock(by time.Duration) error {
	change := unix.Timex{Modes: unix.ADJ_SETOFFSET | unix.ADJ_NANO}
	change.Time.Sec = int64(by / time.Second)
	_, err := unix.Adjtimex(&change)
	return err
}

// playedIPA runs a deploy step as IPA does, and again when it is started again.
const playedIPA = `#!/bin/sh
%s %s < /run/ipa-input >> /run/ipa-output 2>> /run/ipa-log &
wait
`

// ipaIsRestarted restarts the rendered unit of an IPA that is a program of the
// live system, with a deploy step at work: no cancellation, the agent goes on.
func ipaIsRestarted(t *testing.T, l *lab) {
	g := NewWithT(t)
	l.freshBoot(t, realCase{writing: 4 * time.Second})
	defer l.quiet(t)
	for _, u := range l.image.Units {
		if u.Name == hostfile.IPAUnit {
			l.write(t, filepath.Join(hostfile.UnitDir, u.Name), []byte(u.Contents))
		}
	}
	defer l.Run(t, "sh", "-c", "systemctl stop "+hostfile.IPAUnit+"; rm -f /run/ipa-*")
	l.write(t, ipaProgram, fmt.Appendf(nil, playedIPA, hostfile.StepBinary, assisted.Name))
	g.Expect(os.Chmod(l.Host.Path(ipaProgram), 0o755)).To(Succeed())
	l.write(t, "/run/ipa-input", []byte(`{"node": {"uuid": "`+nodeUUID+`"}, "ports": [], "args": {}}`))
	said := func() string {
		raw, _ := os.ReadFile(l.Host.Path("/run/ipa-output")) // not before the step has begun
		return string(raw)
	}
	run := func() string {
		return l.Run(t, "systemctl", "show", "-P", "ActiveState", "-P", "InvocationID", hostfile.AgentUnit)
	}
	l.Run(t, "systemctl", "daemon-reload")
	l.Run(t, "systemctl", "start", hostfile.IPAUnit)
	g.Eventually(said, patience).Should(ContainSubstring(writeStage))
	before := run()
	l.Run(t, "systemctl", "restart", hostfile.IPAUnit)
	g.Expect(run()).To(And(Equal(before), HavePrefix("active")), "the agent goes on")
	g.Eventually(said, patience).Should(ContainSubstring(`"outcome":"done"`))
	g.Expect(said()).NotTo(ContainSubstring("cancelled"))
}
