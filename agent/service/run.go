package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/handover"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
)

// exitRunnerDone is next_step_runner's exit code when its caller shall register again.
const exitRunnerDone = 0

// exitHandover is the exit code after a hand-over that has failed: the service
// manager starts the agent again.
const exitHandover = 1

// ExitUsage is the exit code for a command line or a file that cannot be used.
const ExitUsage = 1

const (
	// stepDeadline bounds the steps that only hand over.
	stepDeadline = time.Minute
	// stepsGrace is what running steps get when the hub ends the installation:
	// the logs that it asked for in the same breath.
	stepsGrace = 30 * time.Second
	// signalGrace keeps the end within ten seconds of a signal.
	signalGrace = 2 * time.Second
	// drainGrace bounds the last replies to the hub.
	drainGrace = 2 * time.Second
	// minRegister is the shortest time between two registrations.
	minRegister = 2 * time.Second
)

// ending is the agent's end and the time that running steps still get. next, if
// set, is what this process becomes instead.
type ending struct {
	*outcome.End
	grace time.Duration
	next  *handover.Next
}

// finish ends the agent; only the first call counts.
func (a *agent) finish(end *outcome.End) { a.finishAfter(end, 0) }

func (a *agent) finishAfter(end *outcome.End, grace time.Duration) {
	a.end(ending{End: end, grace: grace})
}

func (a *agent) end(end ending) { a.endOnce.Do(func() { a.ends <- end }) }

// Run runs the agent until it ends and returns its exit code. The end of ctx ends
// it within ten seconds; the context's cause says who stopped it, such as
// "the signal TERM".
func Run(ctx context.Context, cfg Config) int {
	if err := cfg.Check(); err != nil {
		cfg.Log.Error("the agent cannot start", "error", err)
		return ExitUsage
	}
	if marker := cfg.Dry.RebootMarker; cfg.Dry.Enabled && marker != "" {
		if _, err := os.Stat(marker); err == nil {
			cfg.Log.Info("the pretended reboot is done", "marker", marker)
			return exitcode.AgentInstalled
		}
	}
	a, err := newAgent(cfg)
	if err != nil {
		cfg.Log.Error("the agent cannot start", "error", err)
		return ExitUsage
	}
	return a.run(ctx)
}

// run starts the parts, waits for the first reason to end, and ends.
func (a *agent) run(parent context.Context) int {
	defer a.client.Close()
	defer a.checks.CloseIdleConnections()
	background, stopBackground := context.WithCancel(context.WithoutCancel(parent))
	work, stopWork := context.WithCancelCause(background)
	running, stopSteps := context.WithCancelCause(background)
	a.work = work

	var parts, helpers sync.WaitGroup
	helpers.Go(func() { a.outbox.Run(background) })
	helpers.Go(func() { a.notifier.Run(background) })
	helpers.Go(func() { a.watchCaller(parent, background) })
	parts.Go(func() { a.live(work, running) })

	end := <-a.ends
	a.log.Info("ending", "exit", end.Exit, "reason", end.Text)
	cause := errors.New(end.Text)
	stopWork(cause)
	parts.Wait()
	wait, cancel := context.WithTimeout(background, end.grace)
	a.dispatcher.Wait(wait)
	cancel()
	stopSteps(cause)
	a.installer.Stop(background)
	drain, cancel := context.WithTimeout(background, drainGrace)
	a.outbox.Drain(drain)
	cancel()
	code := exitHandover
	if end.next == nil {
		code = a.lastWord(end)
	}
	stopBackground()
	helpers.Wait()
	if end.next != nil {
		// It returns only when it fails; the restarted agent then goes on by itself.
		a.log.Error("the agent could not hand over", "error", end.next.Become())
	}
	return code
}

// lastWord writes the files that prove the end and tells systemd.
func (a *agent) lastWord(end ending) int {
	code := end.Exit
	if err := a.writeEnd(end); err != nil {
		a.log.Error("the end cannot be recorded", "error", err)
		if end.Installed {
			// Without the marker nobody may count this as installed.
			code, end.Text = exitcode.AgentFailed, fmt.Sprintf("installed, but the done marker cannot be written: %v", err)
		}
	}
	if end.Installed {
		if err := a.mishaps.At(scenario.StageMarked); err != nil {
			a.log.Warn("a fault of the scenario did not come about", "error", err)
		}
	}
	if marker := a.cfg.Dry.RebootMarker; a.cfg.Dry.Enabled && marker != "" && end.Installed {
		if err := os.WriteFile(marker, nil, 0o600); err != nil {
			a.log.Warn("the pretended reboot cannot be marked", "error", err)
		}
	}
	if code == exitcode.AgentFailed {
		a.forgetOrder()
	}
	a.notifier.Status(lastStatus(end, a.notifier.Last()))
	if code == exitcode.AgentInstalled {
		a.finishInstallation()
	}
	return code
}

// lastStatus is what the unit shows after the end: "ending" only where the
// marker is, otherwise the part in which it ended, with the reason.
func lastStatus(end ending, last hostfile.Status) hostfile.Status {
	switch {
	case end.Installed:
		return hostfile.Status{Part: hostfile.PartEnding, Stage: end.Stage, Percent: end.Percent, Text: end.Text}
	case end.Stage != "":
		return hostfile.Status{Part: hostfile.PartInstalling, Stage: end.Stage, Percent: end.Percent, Text: end.Text}
	default:
		return hostfile.Status{Part: last.Part, Percent: -1, Text: end.Text}
	}
}

// watchCaller turns the end of the caller's context into an end.
func (a *agent) watchCaller(parent, background context.Context) {
	select {
	case <-background.Done():
		return
	case <-parent.Done():
	}
	if end := a.installer.Conclusion(); end != nil {
		a.finishAfter(end, signalGrace) // only its farewell is cut short
		return
	}
	if a.foreign.isRunning() {
		a.finishAfter(stoppedByInstaller(), 0)
		return
	}
	by := "its caller"
	if cause := context.Cause(parent); !errors.Is(cause, parent.Err()) {
		by = cause.Error()
	}
	last := a.notifier.Last()
	a.finishAfter(&outcome.End{
		Exit: exitcode.AgentCancelled, Text: "the agent was stopped by " + by, Stage: last.Stage, Percent: max(last.Percent, 0),
	}, signalGrace)
}
