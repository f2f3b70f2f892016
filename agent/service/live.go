package service

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/poll"
	"github.com/ironflow/ironflow/agent/register"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// live registers and polls until the work ends.
func (a *agent) live(work, running context.Context) {
	if a.installedBefore() {
		a.log.Info("an earlier process has installed this host; nothing is written any more", "found", install.Found(*a.state.Get().Install))
		a.notifier.Ready()
		a.finish(&outcome.End{Exit: exitcode.AgentInstalled, Text: "installed before this process began"})
		return
	}
	if a.cfg.Order != nil {
		a.carryOut(work)
		return
	}
	for {
		if !a.identifySelf(work) {
			return
		}
		again, err := a.poll(work, running)
		if err != nil {
			return
		}
		a.log.Info("registering again", "reason", again.Reason, "after", again.After)
		if again.Exit {
			if !a.settle(work, again) {
				return
			}
			again.After = 0 // it has passed
		}
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
	case kept.Install != nil && kept.Host.HostID != "" && !a.installing():
		// Registering now would make the hub fail the installation.
		a.log.Info("going on with an installation after a crash", "host", kept.Host.HostID, "stage", kept.Install.Stage, "attempt", kept.Install.Attempt+1)
		a.host.Store(&kept.Host)
		if kept.AgentVersion != "" {
			a.client.SetVersion(kept.AgentVersion)
		}
		a.outbox.Restore(a.cfg.Dir, kept.Host)
		a.notifier.Ready()
		a.resumeInstallation(ctx)
		return true
	case a.cfg.HostID != "":
		host := hubclient.Host{InfraEnvID: a.cfg.InfraEnvID, HostID: a.cfg.HostID}
		a.host.Store(&host)
		a.outbox.Restore(a.cfg.Dir, host)
		a.notifier.Ready()
		return true
	}
	a.client.SetVersion(a.cfg.running())
	loop := register.Loop{
		Hub: a.client, InfraEnvID: a.cfg.InfraEnvID, HostID: a.hostID, Interval: a.cfg.Interval,
		Status: a.notifier.Starting, Log: a.log,
	}
	registration, err := loop.Run(ctx)
	if err != nil {
		return false
	}
	if a.handOver(ctx, registration.AgentVersion) {
		return false
	}
	a.host.Store(&registration.Host)
	a.seen.Store(nil)
	a.outbox.Forget()
	// What an earlier process was about to say of an installation is no longer true.
	a.outbox.Restore(a.cfg.Dir, registration.Host, wire.StepTypeInstall, wire.StepTypeStopInstallation)
	if err := a.state.SetHost(registration.Host); err != nil {
		a.log.Warn("the identity cannot be kept; a crash will register again", "error", err)
	}
	a.notifier.Ready()
	a.notifier.Waiting("registered; waiting for the hub's first instructions")
	if err := a.mishaps.At(""); err != nil {
		a.log.Warn("a fault of the scenario did not come about", "error", err)
	}
	return true
}

// installedBefore tells whether an earlier process of this attempt has written
// the done marker and then died: the disk is not to be written once more.
func (a *agent) installedBefore() bool {
	kept := a.state.Get()
	if kept.Install == nil {
		return false
	}
	var marker hostfile.Installed
	err := a.cfg.Dir.Read(hostfile.InstalledFile, &marker)
	return err == nil && marker.BootID == kept.BootID
}

func (a *agent) poll(work, running context.Context) (poll.Again, error) {
	loop := poll.Loop{
		Hub: a.client, Host: *a.host.Load(), Changed: a.changed, Leave: a.leave, Busy: a.installing,
		Dispatch: func(step wire.Step) { a.dispatcher.Dispatch(running, step) },
		Forget:   a.outbox.Doubt, Status: a.notifier.Waiting, Log: a.log,
		Entered: a.entered, Answered: a.cfg.Polled,
	}
	return loop.Run(work)
}
