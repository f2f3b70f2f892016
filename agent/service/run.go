package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
)

// exitRunnerDone is next_step_runner's exit code when its caller shall register again.
const exitRunnerDone = 0

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

// ending is the agent's end and the time that running steps still get.
type ending struct {
	*outcome.End
	grace time.Duration
}

// finish ends the agent; only the first call counts.
func (a *agent) finish(end *outcome.End) { a.finishAfter(end, 0) }

func (a *agent) finishAfter(end *outcome.End, grace time.Duration) {
	a.endOnce.Do(func() { a.ends <- ending{end, grace} })
}

// Run runs the agent until it ends and returns its exit code. A signal that asks
// it to stop ends it within ten seconds.
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
	background, stopBackground := context.WithCancel(context.WithoutCancel(parent))
	work, stopWork := context.WithCancelCause(background)
	running, stopSteps := context.WithCancelCause(background)
	a.work = work

	var parts, helpers sync.WaitGroup
	helpers.Go(func() { a.outbox.Run(background) })
	helpers.Go(func() { a.notifier.Run(background) })
	helpers.Go(func() { a.watchSignals(parent, background) })
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
	code := a.lastWord(end)
	stopBackground()
	helpers.Wait()
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

// watchSignals turns a signal, or the end of the caller's context, into an end.
func (a *agent) watchSignals(parent, background context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	by := "its caller"
	select {
	case <-background.Done():
		return
	case <-parent.Done():
	case s := <-signals:
		by = fmt.Sprintf("the signal %q", s)
	}
	if end := a.installer.Conclusion(); end != nil {
		a.finishAfter(end, signalGrace) // only its farewell is cut short
		return
	}
	last := a.notifier.Last()
	a.finishAfter(&outcome.End{
		Exit: exitcode.AgentCancelled, Text: "the agent was stopped by " + by, Stage: last.Stage, Percent: max(last.Percent, 0),
	}, signalGrace)
}
