package assisted

import "github.com/ironflow/ironflow/customdeploy/step"

// Cause is why the step ended, or why it stopped the unit.
type Cause string

// Causes. The outcome of each is in the table outcomes.
const (
	// Installed means that the agent's done marker of this boot is there.
	Installed Cause = "installed"
	// ForeignInstalled means that a foreign installer without marker ended well.
	ForeignInstalled Cause = "foreign-installed"
	// AgentFailed means that the agent gave up for good.
	AgentFailed Cause = "agent-failed"
	// AgentCancelled means that the agent was told to stop, by the hub or a person.
	AgentCancelled Cause = "agent-cancelled"
	// UnitFailed means any other failure of the unit: crash, signal, protocol …
	UnitFailed Cause = "unit-failed"
	// CrashLoop means that the agent was restarted again and again.
	CrashLoop Cause = "crash-loop"
	// StoppedEarly means that the unit ended cleanly before an installation was done.
	StoppedEarly Cause = "stopped-early"
	// CancelledHere means a cancellation on the host: a signal or the stop file.
	CancelledHere Cause = "cancelled"

	// NoUnit, UnitMasked, UnitBroken and ConditionUnmet mean that the live image cannot run the step.
	NoUnit         Cause = "no-unit"
	UnitMasked     Cause = "unit-masked"
	UnitBroken     Cause = "unit-broken"
	ConditionUnmet Cause = "condition-unmet"
	// GateClosed means that the gate was taken away in mid step.
	GateClosed Cause = "gate-closed"
	// StartedByHand means that the unit ran before the step.
	StartedByHand Cause = "started-by-hand"
	// StartRefused means that systemd did not take the start job.
	StartRefused Cause = "start-refused"
	// AnotherStep means that another step program of this boot is at work.
	AnotherStep Cause = "another-step"
	// InstallerStays means that the container of an earlier attempt's installer, which
	// may write the disk, could not be removed.
	InstallerStays Cause = "installer-stays"
	// HostTrouble means that a file of the step could not be read or written.
	HostTrouble Cause = "host-trouble"

	// Deadlines of the parts.
	StartDeadline Cause = "start-deadline"
	IdleDeadline  Cause = "idle-deadline"
	StageDeadline Cause = "stage-deadline"
	TotalDeadline Cause = "total-deadline"
	// StopHangs means that the unit does not end though it was stopped.
	StopHangs Cause = "stop-hangs"
	// SystemdLost means that systemd could not be reached any more.
	SystemdLost Cause = "systemd-lost"
)

// outcomes maps each cause to what Ironic gets to know.
var outcomes = map[Cause]step.Outcome{
	Installed:        step.Done,
	ForeignInstalled: step.Done,
	AgentFailed:      step.Failed,
	AgentCancelled:   step.Cancelled,
	UnitFailed:       step.Failed,
	CrashLoop:        step.Failed,
	StoppedEarly:     step.Failed,
	CancelledHere:    step.Cancelled,
	NoUnit:           step.ImageUnfit,
	UnitMasked:       step.ImageUnfit,
	UnitBroken:       step.ImageUnfit,
	ConditionUnmet:   step.ImageUnfit,
	GateClosed:       step.Failed,
	StartedByHand:    step.Failed,
	StartRefused:     step.Failed,
	AnotherStep:      step.Failed,
	InstallerStays:   step.Failed,
	HostTrouble:      step.Failed,
	StartDeadline:    step.Deadline,
	IdleDeadline:     step.Deadline,
	StageDeadline:    step.Deadline,
	TotalDeadline:    step.Deadline,
	StopHangs:        step.Failed,
	SystemdLost:      step.Failed,
}

// Outcome is what Ironic gets to know of the cause.
func (c Cause) Outcome() step.Outcome { return outcomes[c] }
