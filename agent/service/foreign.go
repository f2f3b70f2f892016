package service

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/container"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/probe/images"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/writable"
	"github.com/ironflow/ironflow/hub/wire"
)

// foreign is a foreign hub's installer, which runs in a container, reports its
// stages by itself and has systemd stop this agent when it is done.
type foreign struct {
	mu      sync.Mutex
	running bool
	result  *steps.Result // how it ended
	// cancel ends what is done for it here, and done is closed when that has ended.
	cancel context.CancelFunc
	done   chan struct{}
}

func (f *foreign) isRunning() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running
}

// begin tells what a step is answered with when there is nothing to begin.
func (f *foreign) begin() (answer *steps.Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.running:
		result := steps.Failed(steps.ExitRunning, "%v", install.ErrRunning)
		return &result
	case f.result != nil:
		return f.result
	}
	f.running = true
	return nil
}

// follow returns the context of what is done for the installer here.
func (f *foreign) follow(parent context.Context) (ctx context.Context, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, f.cancel = context.WithCancel(parent)
	f.done = make(chan struct{})
	return ctx, sync.OnceFunc(func() { f.cancel(); close(f.done) })
}

// leave ends what is done for the installer here, and waits for it: nobody must
// start it, or tell how it ends, once it is stopped.
func (f *foreign) leave(ctx context.Context) {
	f.mu.Lock()
	cancel, done := f.cancel, f.done
	f.mu.Unlock()
	if cancel == nil {
		return // not begun yet
	}
	cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (f *foreign) end(result steps.Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running, f.result = false, &result
}

// isForeign tells whether an order is for such an installer.
func (a *agent) isForeign(job install.Job) bool {
	return a.real != nil && a.cfg.Installer.Foreign(job.Request, a.cfg.AgentVersion)
}

// spared is an order without the disks to format that the node says nobody may touch, which a
// foreign installer asks nobody about; an error if the disk to install to is one.
func (a *agent) spared(job install.Job) (install.Job, error) {
	if err := writable.Spared(a.cfg.Dir, job.Disk); err != nil {
		return job, err
	}
	job.Format = slices.DeleteFunc(slices.Clone(job.Format), func(disk string) bool {
		err := writable.Spared(a.cfg.Dir, disk)
		if err != nil {
			a.log.Warn("a disk to format is left as it is", "disk", disk, "error", err)
		}
		return err != nil
	})
	return job, nil
}

func (a *agent) container() container.Runner {
	return container.Runner{
		Commands: a.commands, HubURL: a.cfg.URL, AgentImage: a.cfg.AgentVersion, CACert: a.cfg.CACert, Insecure: a.cfg.Insecure,
		Secret: a.client.Secret, Env: images.Environment(), Ready: a.unchanged, Log: a.log,
	}
}

// unchanged looks at an order once more before its installer is started, whose image may
// have been pulled for half an hour, by a process that died since: a name below /dev/disk
// may have another device by then, and the installer asks nobody what it may write.
func (a *agent) unchanged(job install.Job) (install.Job, error) {
	now, err := a.parseKept(job.Request)
	if err == nil && job.Disk != "" && now.Disk != job.Disk { // a process of before that was kept has not said it
		err = fmt.Errorf("the order names %s, which was %s when it came and is %s now; neither is written", job.Request.BootDevice, job.Disk, now.Disk)
	}
	if err != nil {
		return now, err
	}
	return a.spared(now)
}

// startForeign is the step install of a foreign hub. The hub repeats it each
// minute: while the installer runs it is answered with 125, and then with its end.
func (a *agent) startForeign(ctx context.Context, job install.Job) steps.Result {
	if answer := a.foreign.begin(); answer != nil {
		return *answer
	}
	runner := a.container()
	if err := runner.Clear(ctx); err != nil { // before the order is kept: a crash follows what is there
		a.log.Warn("the container of an earlier installer was not removed", "error", err)
	}
	// Kept, so that a restarted agent does not register, which would fail the installation.
	if err := a.state.SetInstall(&state.Install{Request: job.Request, Attempt: 1, Disk: job.Disk}); err != nil {
		a.log.Warn("the order cannot be kept; a crash will register again", "error", err)
	}
	work, done := a.foreign.follow(a.work)
	go a.runForeign(work, done, job, runner.Run)
	return steps.Silent
}

// resumeForeign goes on waiting for an installer that an earlier process started,
// or starts it, if that process died before.
func (a *agent) resumeForeign(job install.Job) {
	if a.foreign.begin() == nil {
		ctx, done := a.foreign.follow(a.work)
		go a.runForeign(ctx, done, job, a.container().Resume)
	}
}

func (a *agent) runForeign(ctx context.Context, done func(), job install.Job, run func(context.Context, install.Job) steps.Result) {
	a.notifier.Status(hostfile.Status{Part: hostfile.PartInstalling, Percent: -1, Text: "the hub's own installer is at work: " + job.Request.InstallerImage})
	defer done()
	result := run(ctx, job)
	if ctx.Err() != nil {
		return // the agent ends and the container goes on, or the hub has it stopped
	}
	a.foreign.end(result)
	a.outbox.Put(wire.StepReply{ // its order was taken without an answer, hours ago
		StepType: wire.StepTypeInstall, StepID: string(wire.StepTypeInstall) + "-" + uuid.NewString()[:8],
		ExitCode: result.Exit, Output: result.Output, Error: result.Error,
	})
	end := stoppedByInstaller()
	if result.Exit != 0 {
		end = &outcome.End{Exit: exitcode.AgentFailed, Text: fmt.Sprintf("the hub's own installer failed: %s", result.Error)}
	}
	a.finishAfter(end, stepsGrace)
}

// resumeInstallation goes on with the order that an earlier process left behind.
func (a *agent) resumeInstallation(ctx context.Context) {
	kept := a.state.Get().Install
	if a.isForeign(install.Job{Request: kept.Request}) {
		// Its installer may be writing the disk just now, which is without its links for a moment:
		// whether the order holds counts only where there is none, see unchanged.
		a.resumeForeign(install.Job{Request: kept.Request, Disk: kept.Disk})
		return
	}
	a.installer.Resume(ctx, a.parseKept)
}

// installing tells whether any installer runs.
func (a *agent) installing() bool { return a.installer.Busy() || a.foreign.isRunning() }

// stopInstaller stops whichever installer runs, and tells whether one did.
func (a *agent) stopInstaller(ctx context.Context) bool {
	if !a.foreign.isRunning() {
		return a.installer.Stop(ctx)
	}
	a.foreign.leave(ctx)
	if err := a.container().Stop(ctx); err != nil {
		a.log.Warn("the foreign installer was not stopped", "error", err)
	}
	return true
}

// stoppedByInstaller is the end of an agent that is stopped while, or after, a
// foreign installer ran: that is how it says that it is done, and how its
// container ends is what counts. There is no marker, so nobody takes the exit for a proof.
func stoppedByInstaller() *outcome.End {
	return &outcome.End{Exit: exitcode.AgentInstalled, Text: "the agent was stopped while the hub's own installer ran; the end of its container counts"}
}
