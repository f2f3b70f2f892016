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

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/poll"
	"github.com/ironflow/ironflow/agent/register"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
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
	if err := end.Write(a.cfg.Dir); err != nil {
		a.log.Error("the end cannot be recorded", "error", err)
		if end.Installed {
			// Without the marker nobody may count this as installed.
			code, end.Text = exitcode.AgentFailed, fmt.Sprintf("installed, but the done marker cannot be written: %v", err)
		}
	}
	if marker := a.cfg.Dry.RebootMarker; a.cfg.Dry.Enabled && marker != "" && end.Installed {
		if err := os.WriteFile(marker, nil, 0o600); err != nil {
			a.log.Warn("the pretended reboot cannot be marked", "error", err)
		}
	}
	a.notifier.Status(lastStatus(end, a.notifier.Last()))
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

// live registers and polls until the work ends.
func (a *agent) live(work, running context.Context) {
	for {
		if !a.identifySelf(work) {
			return
		}
		again, err := a.poll(work, running)
		if err != nil {
			return
		}
		a.log.Info("registering again", "reason", again.Reason, "after", again.After)
		if a.cfg.HostID != "" { // next_step_runner leaves the registration to its caller
			a.finish(&outcome.End{Exit: exitRunnerDone, Text: again.Reason})
			return
		}
		a.notifier.Waiting(again.Reason)
		select {
		case <-work.Done():
			return
		case <-time.After(max(again.After, minRegister)):
		}
	}
}

// identifySelf makes sure that the hub knows this host: by what an earlier
// process left, by the command line, or by a registration.
func (a *agent) identifySelf(ctx context.Context) bool {
	kept := a.state.Get()
	switch {
	case kept.Install != nil && kept.Host.HostID != "" && !a.installer.Busy():
		// Registering now would make the hub fail the installation.
		a.log.Info("going on with an installation after a crash", "host", kept.Host.HostID, "stage", kept.Install.Stage, "attempt", kept.Install.Attempt+1)
		a.host.Store(&kept.Host)
		a.notifier.Ready()
		a.installer.Resume(ctx, a.parseKept)
		return true
	case a.cfg.HostID != "":
		a.host.Store(&hubclient.Host{InfraEnvID: a.cfg.InfraEnvID, HostID: a.cfg.HostID})
		a.notifier.Ready()
		return true
	}
	loop := register.Loop{
		Hub: a.client, InfraEnvID: a.cfg.InfraEnvID, HostID: a.hostID, Interval: a.cfg.Interval,
		Status: a.notifier.Starting, Log: a.log,
	}
	registration, err := loop.Run(ctx)
	if err != nil {
		return false
	}
	if registration.AgentVersion != a.cfg.AgentVersion {
		a.log.Warn("the hub wants another agent; this one comes with the live image and stays", "wanted", registration.AgentVersion, "own", a.cfg.AgentVersion)
	}
	a.host.Store(&registration.Host)
	a.seen.Store(nil)
	a.outbox.Forget()
	if err := a.state.SetHost(registration.Host); err != nil {
		a.log.Warn("the identity cannot be kept; a crash will register again", "error", err)
	}
	a.notifier.Ready()
	a.notifier.Waiting("registered; waiting for the hub's first instructions")
	a.dieAfterRegistration()
	return true
}

// dieAfterRegistration is the scenario's fault of an agent that dies early.
func (a *agent) dieAfterRegistration() {
	if a.machine == nil {
		return
	}
	if _, taken, err := a.cfg.Dry.Faults(a.machine).Take(scenario.FaultAgentDies, ""); err == nil && taken {
		a.log.Warn("the scenario lets the agent die after its registration")
		install.Die()
	}
}

func (a *agent) poll(work, running context.Context) (poll.Again, error) {
	loop := poll.Loop{
		Hub: a.client, Host: *a.host.Load(), Changed: a.changed, Busy: a.installer.Busy,
		Dispatch: func(step wire.Step) { a.dispatcher.Dispatch(running, step) },
		Forget:   a.outbox.Forget, Status: a.notifier.Waiting, Log: a.log,
		Entered: func(s poll.Situation) {
			if s != poll.Stopping && s != poll.Unknown {
				a.seen.Store(&s)
			}
		},
	}
	return loop.Run(work)
}

// installStep is the step install: it only starts the installation, whose
// result reaches the hub as progress.
func (a *agent) installStep(_ context.Context, args []string) steps.Result {
	job, err := a.parseOrder(args)
	if err != nil {
		a.finishAfter(&outcome.End{Exit: exitcode.AgentFailed, Text: "the hub's install order cannot be carried out: " + err.Error()}, stepsGrace)
		return steps.Failed(steps.ExitBad, "%v", err)
	}
	switch err := a.installer.Start(a.work, job); {
	case errors.Is(err, install.ErrRunning):
		return steps.Failed(steps.ExitRunning, "%v", err)
	case err != nil:
		return steps.Failed(steps.ExitBad, "%v", err)
	}
	return steps.Silent
}

// stopStep is the step stop-installation. A hub that ends an installation which
// this agent has been part of ends the agent too; a hub that still holds the
// host's earlier failure does not.
func (a *agent) stopStep(ctx context.Context, args []string) steps.Result {
	if err := steps.Strings(args, 0, 0); err != nil {
		return steps.Failed(steps.ExitBad, "%v", err)
	}
	if a.installer.Conclusion() != nil { // the hub has just heard of it, and answers with this step
		return steps.Text("the installation has ended by itself")
	}
	last := a.notifier.Last()
	if stopped := a.installer.Stop(ctx); !stopped && a.seen.Load() == nil {
		a.notifier.Waiting("the hub holds this host as failed or cancelled from before; reset or unbind it in the hub")
		return steps.Text("no installation was running")
	}
	a.finishAfter(&outcome.End{
		Exit: exitcode.AgentCancelled, Text: "the hub ended the installation", Stage: last.Stage, Percent: max(last.Percent, 0),
	}, stepsGrace)
	return steps.Text("the installation was stopped")
}
