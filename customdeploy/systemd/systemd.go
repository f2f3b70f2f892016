// Package systemd is what the deploy steps need to know and to do about one
// systemd unit: start it, stop it, follow its properties, and read its last
// journal lines. It is not a systemd client of its own: [Manager] is
// implemented over D-Bus by package sdbus, and by test/systemd/standin, which
// runs the unit itself where no systemd exists (simulated machines).
// test/systemd/contract holds both to the same cases.
package systemd

import (
	"context"
	"time"
)

// Results of a start or stop job, as the signal JobRemoved names them.
const (
	JobDone       = "done"
	JobCanceled   = "canceled"
	JobTimeout    = "timeout"
	JobFailed     = "failed"
	JobDependency = "dependency"
	JobSkipped    = "skipped"
)

// Manager controls units of one systemd. All methods may be called at the same
// time; names are unit names such as "agent.service". What is asked of systemd is
// answered within a minute or ends with an error; only the results of jobs are
// waited for as long as the context allows.
type Manager interface {
	// Start forgets an earlier failure of the unit (ResetFailedUnit), starts it
	// in mode "replace" and waits for the job's result, which for Type=notify
	// comes only with READY=1. "done" is also the result when a condition of
	// the unit is not met: look at ConditionResult. An error means that the job
	// could not be queued or its result not be learnt; the context ends the
	// waiting, not the job.
	Start(ctx context.Context, unit string) (result string, err error)
	// Stop stops the unit and waits for the job's result. Stopping a unit that
	// does not run is done at once.
	Stop(ctx context.Context, unit string) (result string, err error)
	// Unit loads the unit if necessary and returns its present properties. A
	// unit without a file is no error: its LoadState is "not-found".
	Unit(ctx context.Context, unit string) (Properties, error)
	// Follow sends the unit's present properties and then each change, until
	// the context ends. A slow reader sees only the newest properties, never an
	// old one after a newer one. A broken connection is repaired behind the
	// scenes for up to a minute and the properties are read anew; after that, and when
	// systemd does not answer any more, an Update with Err is the last before the
	// channel is closed.
	Follow(ctx context.Context, unit string) (<-chan Update, error)
	// Journal returns up to n of the last journal lines of the unit's
	// invocation (32 hex digits), oldest first, or of the unit in this boot
	// when the invocation is empty. Lines may hold any bytes.
	Journal(ctx context.Context, unit, invocation string, n int) ([]string, error)
}

// Update is one message of [Manager.Follow].
type Update struct {
	Unit Properties
	// Err, when set, says why nothing more can be learnt; Unit is then empty.
	Err error
}

// Properties is a snapshot of org.freedesktop.systemd1.Unit and .Service, with
// systemd's names and words.
type Properties struct {
	// LoadState is loaded, not-found, bad-setting, error or masked.
	LoadState string
	// ActiveState is active, reloading, inactive, failed, activating,
	// deactivating or maintenance.
	ActiveState string
	// SubState is finer: start-pre, running, auto-restart, stop-sigterm, dead …
	SubState string
	// UnitFileState is enabled, disabled, static, masked …
	UnitFileState string
	// ConditionResult is false before the first start too.
	ConditionResult bool
	// InvocationID names one run of the unit, 32 hex digits; each automatic
	// restart gets a new one. It stays after the end.
	InvocationID string

	// Result is success, exit-code, signal, core-dump, timeout, watchdog,
	// start-limit-hit, oom-kill, protocol or resources.
	Result string
	// ExecMainCode is how the main process ended: one of the Exited constants, 0 while it runs.
	ExecMainCode int
	// ExecMainStatus is its exit status, or the signal's number.
	ExecMainStatus int
	// StatusText is the last STATUS= of the service.
	StatusText string
	// Restart is Restart= of the unit: no, on-success, on-failure, on-abnormal,
	// on-watchdog, on-abort or always.
	Restart string
	// NRestarts counts automatic restarts since the last start by a job.
	NRestarts int
	// Job is the id of the job that waits or runs for the unit, 0 for none.
	Job int
	// MainPID is the main process, 0 for none.
	MainPID int
	// TimeoutStop is how long systemd waits before it kills a stopping unit; 0 means for ever.
	TimeoutStop time.Duration
}

// Values of Properties.ExecMainCode.
const (
	Exited = 1
	Killed = 2
	Dumped = 3
)

// Ended tells whether the unit has come to its end: it neither runs nor will
// systemd start it again by itself. Newer systemd passes through the sub states
// "failed-before-auto-restart" and "dead-before-auto-restart", which look like
// an end and are none.
func (p Properties) Ended() bool {
	if p.ActiveState != "inactive" && p.ActiveState != "failed" {
		return false
	}
	return p.SubState != "failed-before-auto-restart" && p.SubState != "dead-before-auto-restart"
}

// RestartsAfterSuccess tells whether systemd starts the unit again after it has
// ended well, so that only a stop is an end.
func (p Properties) RestartsAfterSuccess() bool {
	return p.Restart == "always" || p.Restart == "on-success"
}

// Loaded tells whether systemd has a usable unit file.
func (p Properties) Loaded() bool { return p.LoadState == "loaded" }
