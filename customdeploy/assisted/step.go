package assisted

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// Name is the step's name in Ironic.
const Name = "start_assisted_install"

// Step starts and follows the agent on one host.
type Step struct {
	// Units is the host's systemd.
	Units systemd.Manager
	// Foreign knows installers that are not ours; nil means that the host can run none.
	Foreign ForeignInstaller
	// Kept tells which disks the node says nobody may touch, for the agent; nil tells none.
	Kept func(ctx context.Context, node step.Node) (map[string]string, error)
	// Uptime replaces Host.Uptime in tests.
	Uptime func() time.Duration
	// Watch replaces Host.WatchRunDir in tests.
	Watch func(ctx context.Context) (<-chan struct{}, error)
}

// ForeignInstaller is an installer without done marker, in a container of its own.
// While the agent's unit lives the agent owns the container, before and after that the
// step does.
type ForeignInstaller interface {
	// Installed tells whether one that began after that moment has ended well.
	Installed(ctx context.Context, began time.Time) bool
	// Stop ends it, whatever it is doing, and keeps its last words. None is a success.
	Stop(ctx context.Context) error
	// Remove ends it and forgets it.
	Remove(ctx context.Context) error
}

// Definition is the step for the registry.
func (s *Step) Definition() step.Step {
	return step.Step{Name: Name, Interface: "deploy", Priority: 0, Args: step.DeadlineArgs, Run: s.Run}
}

// Run is the whole step. A unit that runs already is followed when an earlier
// program of this boot opened the gate: IPA was restarted.
func (s *Step) Run(ctx context.Context, req *step.Request) step.Report {
	limits, err := req.Deadlines(Defaults)
	if err != nil {
		return step.Report{Outcome: step.BadInput, Reason: err.Error()}
	}
	host, err := OpenHost(req.Host)
	if err != nil {
		return s.refuse(HostTrouble, err)
	}
	unlock, err := host.Lock()
	if errors.Is(err, ErrLocked) {
		return s.refuse(AnotherStep, err)
	}
	if err != nil {
		return s.refuse(HostTrouble, err)
	}
	defer unlock()
	f := s.newFollower(req, host, limits)
	unit, err := s.Units.Unit(ctx, hostfile.AgentUnit)
	if err != nil {
		return s.refuse(SystemdLost, err)
	}
	state, ours, err := host.State()
	if err != nil {
		req.Log.Warn("the step file cannot be read; it is replaced", "error", err)
	}
	switch {
	case !unit.Ended() && ours:
		req.Log.Info("the agent runs already: following it", "invocation", unit.InvocationID, "since", state.StartedAt)
		f.resume(state, unit)
	case !unit.Ended():
		f.obs.Unit = unit
		return f.report(ctx, StartedByHand, nil)
	default:
		f.state = hostfile.StepState{
			BootID: host.bootID, NodeUUID: req.Node.UUID, Step: Name, StartedAt: time.Now().UTC(), Deadlines: limits.InSeconds(),
		}
		f.obs.Unit = unit
		if v := Decide(f.obs); v.Action == Finish { // the image does not fit: nothing is opened
			return f.report(ctx, v.Cause, nil)
		}
		if s.Kept != nil {
			if f.state.Kept, err = s.Kept(ctx, req.Node); err != nil {
				return step.Report{Outcome: step.Failed, Reason: "which disks of the node must stay is not known, so nothing is started: " + err.Error()}
			}
		}
		if cause, err := f.prepare(ctx); err != nil {
			return f.report(ctx, cause, err)
		}
	}
	return f.run(ctx)
}

// Follow takes over a running unit that an earlier program of this boot has
// started, and reports like Run, with the deadlines that it was started with. It
// is for confirm_install after a restart of IPA.
func (s *Step) Follow(ctx context.Context, req *step.Request, host Host, state hostfile.StepState, unit systemd.Properties) step.Report {
	limits, err := req.Deadlines(Defaults)
	if err != nil {
		return step.Report{Outcome: step.BadInput, Reason: err.Error()}
	}
	f := s.newFollower(req, host, limits.With(state.Deadlines))
	f.resume(state, unit)
	return f.run(ctx)
}

// Explain reports how a unit that has ended already came to its end.
func (s *Step) Explain(ctx context.Context, req *step.Request, host Host, state hostfile.StepState, unit systemd.Properties) step.Report {
	f := s.newFollower(req, host, Defaults)
	f.resume(state, unit)
	f.readFiles()
	v, finished := f.decide(ctx)
	if !finished {
		v.Cause = StoppedEarly
	}
	return f.report(ctx, v.Cause, nil)
}

func (s *Step) refuse(c Cause, err error) step.Report {
	return report(Observation{}, c, Evidence{Unit: hostfile.AgentUnit, Error: err})
}

func (s *Step) newFollower(req *step.Request, host Host, limits step.Deadlines) *follower {
	watch := s.Watch
	if watch == nil {
		watch = host.WatchRunDir
	}
	uptime := s.Uptime
	if uptime == nil {
		uptime = host.Uptime
	}
	now := time.Now()
	return &follower{
		units: s.Units, foreign: s.Foreign, watch: watch, uptime: uptime,
		host: host, log: req.Log, progress: req.Progress,
		obs: Observation{Now: now, Limits: limits, Clocks: Clocks{Begun: now}},
	}
}

// follower is one run of the step.
type follower struct {
	units    systemd.Manager
	foreign  ForeignInstaller
	watch    func(ctx context.Context) (<-chan struct{}, error)
	host     Host
	log      *slog.Logger
	progress func(stage string, percent int, text string)

	uptime func() time.Duration

	state hostfile.StepState
	// saved tells that the step file holds the state.
	saved bool
	obs   Observation
	rule  string
}

// resume sets up the follower for a unit that was started by an earlier program,
// which is what it goes on from.
func (f *follower) resume(state hostfile.StepState, unit systemd.Properties) {
	f.state = state
	f.obs.Started = true
	f.obs.restore(state, f.uptime())
	f.see(unit)
}

// prepare writes the step file and opens the gate, in this order: an open gate
// without a step file would be nobody's. An installer of an earlier attempt of this
// boot, whose step was killed, has no owner any more and may write the disk just now:
// unless it is gone, nothing is started beside it.
func (f *follower) prepare(ctx context.Context) (Cause, error) {
	if f.foreign != nil {
		if err := f.foreign.Remove(ctx); err != nil {
			return InstallerStays, err
		}
	}
	if err := f.host.ForgetEarlier(); err != nil {
		return HostTrouble, err
	}
	if err := f.save(); err != nil {
		return HostTrouble, err
	}
	return HostTrouble, f.host.OpenGate()
}
