package service

import (
	"context"
	"errors"
	"net/http"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/coreos"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/hub/wire"
)

// installStep is the step install: it only starts the installation, whose
// result reaches the hub as progress.
func (a *agent) installStep(ctx context.Context, args []string) steps.Result {
	if a.installing() {
		// The hub repeats its order each minute. It is not looked at again: a disk that
		// is being written may be without its links for a moment.
		return steps.Failed(steps.ExitRunning, "%v", install.ErrRunning)
	}
	job, err := a.parseOrder(args)
	switch {
	case err != nil || a.real == nil:
	case a.isForeign(job):
		job, err = a.spared(job)
	default:
		err = coreos.Refused(job.Request)
	}
	if err == nil { // the check writes to the disk, too
		err = a.dispatcher.Stop(ctx, errors.New("the installation begins"), wire.StepTypeInstallationDiskSpeedCheck)
	}
	if err != nil {
		a.finishAfter(&outcome.End{Exit: exitcode.AgentFailed, Text: "the hub's install order cannot be carried out: " + err.Error()}, stepsGrace)
		return steps.Failed(steps.ExitBad, "%v", err)
	}
	if a.isForeign(job) {
		return a.startForeign(ctx, job)
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
	if stopped := a.stopInstaller(ctx); !stopped && a.seen.Load() == nil {
		a.notifier.Waiting("the hub has ended an earlier installation of this host; reset or unbind it in the hub, then boot its live image again")
		return steps.Text("no installation was running")
	}
	a.forgetOrder()
	a.finishAfter(&outcome.End{
		Exit: exitcode.AgentCancelled, Text: "the hub ended the installation", Stage: last.Stage, Percent: max(last.Percent, 0),
	}, stepsGrace)
	return steps.Text("the installation was stopped")
}

// tell tells the hub a stage. A hub that refuses it may have ended the installation: it is asked
// at once, while the disk is written, and not after the minute that it left until the next poll.
func (a *agent) tell(ctx context.Context, p wire.HostProgress) error {
	err := a.client.Progress(ctx, *a.host.Load(), p)
	if hubclient.Code(err) == http.StatusConflict {
		a.nudge()
	}
	return err
}

// forgetOrder makes sure that nobody goes on with an installation that has ended
// for good: an agent that is started once more registers, and waits for an order.
func (a *agent) forgetOrder() {
	if err := a.state.SetInstall(nil); err != nil {
		a.log.Warn("the order cannot be forgotten; do not start this agent again in this boot", "error", err)
	}
}
