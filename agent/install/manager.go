package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// MaxAttempts is how many processes may work on one order: after that many
	// crashes the installation has failed for good.
	MaxAttempts = 3
	// lastReports bounds the wait for the hub to hear of the end.
	lastReports = 2 * time.Minute
	// lastOrder is how long the hub has to end an installation whose last stage it did not take.
	lastOrder = 30 * time.Second
	// failedReport is the same for a failure, which the deploy step must see soon.
	failedReport = 3 * time.Second
	// farewellLogs bounds the upload of logs after a failure.
	farewellLogs = 20 * time.Second
	// logsUpload bounds the upload of logs before the end of an installation.
	logsUpload = 2 * time.Minute
	// stopGrace is what a stopped installer may take: five seconds for its programs
	// to end by themselves, and one more to be killed.
	stopGrace = 6 * time.Second
)

// ErrRunning means that an installation is already under way.
var ErrRunning = errors.New(`the container name "assisted-installer" is already in use`)

// errStopped is the cause of a stopped installation.
var errStopped = errors.New("the installation was stopped")

// Manager runs at most one installation. All fields must be set before its
// first use.
type Manager struct {
	Installer Installer
	// Put reports progress to the hub.
	Put Put
	// State keeps the order over a crash.
	State *state.File
	// Status tells systemd.
	Status func(hostfile.Status)
	// SendLogs uploads the host's logs; its failure does not fail anything.
	SendLogs func(ctx context.Context, request wire.InstallCmdRequest) error
	// Finish is called once, when the installation has come to an end.
	Finish func(*outcome.End)
	// Effects records what the manager itself changes; nil records nothing.
	Effects *effect.Recorder
	Log     *slog.Logger

	mu        sync.Mutex
	cancel    context.CancelCauseFunc
	done      chan struct{}
	concluded atomic.Pointer[outcome.End]
}

// Busy tells whether an installation runs.
func (m *Manager) Busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cancel != nil
}

// Conclusion is how the installation has ended, as soon as that is certain:
// before the hub and everyone else have been told. Nothing that happens while
// they are told, not even a stop, changes it. It is nil before.
func (m *Manager) Conclusion() *outcome.End { return m.concluded.Load() }

// Start begins the job in the background; [ErrRunning] when one has begun.
func (m *Manager) Start(ctx context.Context, job Job) error {
	return m.start(ctx, job, 1)
}

// Resume goes on with an order that a crashed process left behind; false when
// there is none. An order that no longer holds, or that has crashed too often,
// ends the agent for good.
func (m *Manager) Resume(ctx context.Context, parse func(wire.InstallCmdRequest) (Job, error)) bool {
	left := m.State.Get().Install
	if left == nil {
		return false
	}
	m.Log.Info("what the earlier process did", "found", Found(*left))
	job, err := parse(left.Request)
	if err == nil && left.Disk != "" && left.Disk != job.Disk {
		err = fmt.Errorf("the order meant the disk %s before the agent crashed and means %s now; neither is written any more", left.Disk, job.Disk)
	}
	if err == nil && left.Attempt >= MaxAttempts {
		err = fmt.Errorf("the agent ended %d times without a last word during the installation, last at stage %q; look at its journal and at the memory of the host", left.Attempt, left.Stage)
	}
	if err != nil {
		m.startFailing(ctx, left, err)
		return true
	}
	return m.start(ctx, job, left.Attempt+1) == nil
}

func (m *Manager) start(ctx context.Context, job Job, attempt int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cancel != nil {
		return ErrRunning
	}
	reported := wire.HostStage("")
	var effects []state.Effect
	if left := m.State.Get().Install; left != nil {
		reported, effects = left.Stage, left.Effects
	}
	if err := m.State.SetInstall(&state.Install{Request: job.Request, Attempt: attempt, Stage: reported, Disk: job.Disk, Effects: effects}); err != nil {
		return fmt.Errorf("keep the order: %w", err)
	}
	m.launch(ctx, func(ctx context.Context) *outcome.End {
		work := m.newWork(ctx, job, attempt, reported)
		return work.run(ctx)
	})
	return nil
}

// startFailing reports an order that cannot be resumed.
func (m *Manager) startFailing(ctx context.Context, left *state.Install, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.launch(ctx, func(ctx context.Context) *outcome.End {
		work := m.newWork(ctx, Job{Request: left.Request}, left.Attempt, left.Stage)
		work.stage = left.Stage
		return work.fail(ctx, err)
	})
}

// Found says in one line what an earlier process has left.
func Found(left state.Install) string {
	text := fmt.Sprintf("attempt %d had come to stage %q", left.Attempt, left.Stage)
	if left.Stage == "" {
		text = fmt.Sprintf("attempt %d had come to no stage", left.Attempt)
	}
	var effects []string
	for _, e := range left.Effects {
		verb := "done"
		if !e.Done {
			verb = "begun"
		}
		effects = append(effects, fmt.Sprintf("%s %s %s", verb, e.Name, e.Target))
	}
	if len(effects) > 0 {
		text += ": " + strings.Join(effects, ", ")
	}
	return text
}

// launch runs f in the background; the caller holds the lock.
func (m *Manager) launch(parent context.Context, f func(context.Context) *outcome.End) {
	ctx, cancel := context.WithCancelCause(parent)
	m.cancel, m.done = cancel, make(chan struct{})
	done := m.done
	go func() {
		defer close(done)
		defer cancel(nil)
		if end := f(ctx); end != nil {
			m.Finish(end)
		}
	}()
}

// Stop ends a running installation and waits at most six seconds for it. It
// tells whether one was running.
func (m *Manager) Stop(ctx context.Context) bool {
	m.mu.Lock()
	cancel, done := m.cancel, m.done
	m.mu.Unlock()
	if cancel == nil {
		return false
	}
	cancel(errStopped)
	ctx, release := context.WithTimeout(ctx, stopGrace)
	defer release()
	select {
	case <-done:
	case <-ctx.Done():
		m.Log.Warn("the installer did not stop in time and is left behind")
	}
	return true
}

// work is one attempt at one job.
type work struct {
	*Manager
	job      Job
	attempt  int
	reported wire.HostStage // the highest stage that the hub was told by an earlier process
	reporter *reporter

	// calledOff is closed when the hub did not take the last stage.
	calledOff chan struct{}

	mu      sync.Mutex // guards what tasks report
	stage   wire.HostStage
	percent int
	sent    int
	tell    bool
}

func (m *Manager) newWork(ctx context.Context, job Job, attempt int, reported wire.HostStage) *work {
	w := &work{Manager: m, job: job, attempt: attempt, reported: reported, percent: -1, calledOff: make(chan struct{})}
	w.reporter = newReporter(m.Put, m.Log, w.stageRefused)
	go w.reporter.run(ctx)
	return w
}

// run does the tasks of the order; nil when the installation was stopped.
func (w *work) run(ctx context.Context) *outcome.End {
	stages := Sequence(w.job.Request)
	var tasks []Task
	err := guarded(func() (err error) { tasks, err = w.Installer.Tasks(ctx, w.job); return err }, w.Log)
	if err == nil {
		enter := func(stage wire.HostStage) error {
			if stage == rebooting {
				w.logs(ctx, logsUpload)
			}
			return w.enter(stage, infoOf(tasks, stage), slices.Index(stages, w.reported) <= slices.Index(stages, stage))
		}
		err = walk(ctx, tasks, stages, enter, w.task)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		if failed, ok := errors.AsType[*taskError](err); ok {
			w.failedAt(failed.task)
		}
		return w.fail(ctx, err)
	}
	end := &outcome.End{Exit: exitcode.AgentInstalled, Installed: true, Text: "installed to " + w.job.Disk, Stage: string(w.stage), Percent: 100, Disk: w.job.Disk}
	w.concluded.Store(end)
	if w.isRefused() {
		w.concluded.Store(nil)
	}
	told, cancel := context.WithTimeout(ctx, lastReports)
	defer cancel()
	if !w.reporter.flush(told) {
		w.Log.Warn("the hub has not heard of the end of the installation; ending all the same")
	}
	if w.waitsForStop(ctx) {
		return nil
	}
	w.concluded.Store(end)
	return end
}

// stageRefused takes back that the installation has ended where the hub does not take its last stage: it may have been
// called off a moment ago, and the order to stop is on its way.
func (w *work) stageRefused(stage wire.HostStage) {
	if stage == rebooting {
		w.concluded.Store(nil)
		close(w.calledOff) // the stage is sent once
	}
}

func (w *work) isRefused() bool {
	select {
	case <-w.calledOff:
		return true
	default:
		return false
	}
}

// waitsForStop gives the order to stop the time to come, and reports whether it has.
func (w *work) waitsForStop(ctx context.Context) bool {
	if !w.isRefused() {
		return false
	}
	select {
	case <-ctx.Done():
		return true
	case <-time.After(lastOrder):
		w.Log.Warn("the hub did not take the last stage, and has not ended the installation; ending it all the same")
		return false
	}
}

// infoOf is what the tasks of a stage want to be said with its report.
func infoOf(tasks []Task, stage wire.HostStage) string {
	for _, t := range tasks {
		if t.Stage == stage && t.Info != "" {
			return t.Info
		}
	}
	return ""
}

// enter begins a stage. One below the stage that an earlier process reported is
// not told to the hub, which refuses to go back.
func (w *work) enter(stage wire.HostStage, info string, tell bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stage, w.percent, w.sent, w.tell = stage, -1, 0, tell
	w.Log.Info("stage", "stage", stage, "disk", w.job.Disk, "attempt", w.attempt)
	if tell {
		if err := w.State.SetStage(stage); err != nil {
			return fmt.Errorf("keep the stage: %w", err)
		}
		w.reporter.send(stage, cmp.Or(info, w.info()))
	}
	w.status("")
	return nil
}

// task does one task.
func (w *work) task(ctx context.Context, t Task) error {
	w.Log.Info("task begins", "task", t.Name)
	err := guarded(func() error { return t.Run(ctx, func(percent int, text string) { w.report(t, percent, text) }) }, w.Log)
	if err != nil {
		w.Log.Error("task failed", "task", t.Name, "error", err)
		return err
	}
	w.Log.Info("task done", "task", t.Name)
	return nil
}

// report shows how far a task is, when its stage is the one that is shown.
func (w *work) report(t Task, percent int, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	percent = min(percent, 100)
	if t.Stage != w.stage || (percent < 0 && text == "") || (percent >= 0 && percent == w.percent) {
		return
	}
	if percent < 0 {
		w.status(text)
		return
	}
	w.percent = percent
	w.status(text)
	if w.tell && (percent >= w.sent+percentStep || (percent == 100 && w.sent < 100)) {
		w.sent = percent - percent%percentStep
		w.reporter.percent(t.Stage, percent)
	}
}

// failedAt makes the failed task's stage the one that is told.
func (w *work) failedAt(t Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.Stage != w.stage {
		w.stage, w.percent = t.Stage, -1
	}
}

// info is the detail that goes with a new stage.
func (w *work) info() string {
	if w.attempt > 1 {
		return fmt.Sprintf("attempt %d after a crash of the agent", w.attempt)
	}
	return ""
}

// status tells systemd; the caller holds the lock, or nothing runs.
func (w *work) status(text string) {
	if info := w.info(); info != "" && text == "" {
		text = info
	}
	w.Status(hostfile.Status{Part: hostfile.PartInstalling, Stage: string(w.stage), Percent: w.percent, Text: text})
}

// fail tells everyone that the installation has failed for good: first the hub,
// then its logs, then, by the end, the service manager.
func (w *work) fail(ctx context.Context, err error) *outcome.End {
	w.Log.Error("the installation failed", "stage", w.stage, "error", err)
	end := &outcome.End{Exit: exitcode.AgentFailed, Text: err.Error(), Stage: string(w.stage), Percent: max(w.percent, 0)}
	w.concluded.Store(end)
	w.status(err.Error())
	info := err.Error()
	if w.stage != "" {
		info = string(w.stage) + ": " + info
	}
	w.reporter.send(wire.HostStageFailed, info)
	told, cancel := context.WithTimeout(ctx, failedReport)
	defer cancel()
	if w.reporter.flush(told) {
		w.logs(ctx, farewellLogs)
	}
	return end
}

func (w *work) logs(ctx context.Context, bound time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	err := w.Effects.Do(ctx, effect.SendLogs, w.job.Request.HostID, func() error { return w.SendLogs(ctx, w.job.Request) })
	if err != nil {
		w.Log.Warn("logs were not sent", "error", err)
	}
}

// guarded turns a panic of the installer into a failure.
func guarded(f func() error, log *slog.Logger) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("the installer panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("internal failure of the installer: %v", p)
		}
	}()
	return f()
}
