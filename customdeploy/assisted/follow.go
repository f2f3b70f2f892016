package assisted

import (
	"context"
	"errors"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// evidenceTime bounds the collecting of evidence at the end.
const evidenceTime = 5 * time.Second

// answer is what a start or stop job came back with.
type answer struct {
	result string
	err    error
}

// run starts the unit unless it is followed already, and goes from event to
// event until a rule says that the step is finished. The gate is closed at the
// end whatever happened.
func (f *follower) run(ctx context.Context) step.Report {
	// What the step does after a cancellation must not be cancelled by it.
	work, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	defer func() {
		if err := f.host.CloseGate(); err != nil {
			f.log.Warn("the gate could not be closed", "error", err)
		}
	}()
	files, err := f.watch(work)
	if err != nil {
		return f.report(work, HostTrouble, err)
	}
	updates, err := f.units.Follow(work, hostfile.AgentUnit)
	if err != nil {
		return f.lost(work, SystemdLost, err)
	}
	started, stopped := make(chan answer, 1), make(chan answer, 1)
	stopping := false
	stop := func() {
		stopping = true
		go func() {
			result, err := f.units.Stop(work, hostfile.AgentUnit)
			stopped <- answer{result, err}
		}()
	}
	if !f.obs.Started {
		f.obs.Clocks.Starting = time.Now()
		go func() {
			result, err := f.units.Start(work, hostfile.AgentUnit)
			started <- answer{result, err}
		}()
	}
	f.readFiles()
	timer := time.NewTimer(0)
	defer timer.Stop()
	cancelled := ctx.Done()
	for {
		select {
		case up, ok := <-updates:
			if !ok || up.Err != nil {
				return f.lost(work, SystemdLost, up.Err)
			}
			f.see(up.Unit)
		case a := <-started:
			if cause, failed := f.startAnswered(work, a); failed {
				return f.lost(work, cause, a.err)
			}
		case a := <-stopped:
			stopping = a.err != nil // a refused stop is not asked again; its time runs out
			f.stopAnswered(work, a)
		case <-files:
			f.readFiles()
		case <-cancelled:
			cancelled = nil
			f.cancel(context.Cause(ctx).Error())
		case <-timer.C:
		}
		v, finished := f.decide(work)
		f.keep()
		switch {
		case finished:
			return f.report(work, v.Cause, nil)
		case v.Action == StopUnit:
			f.obs.Stopped, f.obs.Clocks.Stopped = v.Cause, f.obs.Now
			stop()
			timer.Reset(f.obs.stopLimit())
		case f.obs.Stopped != "" && !stopping && !f.obs.Unit.Ended():
			// The stop came before the start job was queued.
			stop()
		case v.Until.IsZero():
			timer.Stop()
		default:
			timer.Reset(max(0, v.Until.Sub(f.obs.Now)))
		}
	}
}

// decide asks the rules about this moment. Before the step is finished because
// the unit has ended, the unit is read once more: an update may be older than
// the answer of a job.
func (f *follower) decide(ctx context.Context) (Verdict, bool) {
	f.obs.Now = time.Now()
	v := f.judge()
	if v.Action == AskForeign {
		f.obs.Foreign = ForeignNone
		if f.foreign != nil && f.foreign.Installed(ctx, f.began()) {
			f.obs.Foreign = ForeignDone
			f.mark()
		}
		v = f.judge()
	}
	if v.Action != Finish || !f.obs.Unit.Ended() {
		return v, v.Action == Finish
	}
	unit, err := f.units.Unit(ctx, hostfile.AgentUnit)
	if err != nil {
		return v, true // nothing newer can be learnt
	}
	f.see(unit)
	f.readFiles()
	v = f.judge()
	return v, v.Action == Finish
}

// began is when the step began, by the clock of the day as it is now or as it was
// then, whichever is earlier: that clock may be set in mid step, and the beginning of
// a container is known by it alone.
func (f *follower) began() time.Time {
	now := time.Now()
	began := now.Add(-now.Sub(f.obs.Clocks.Begun)).Round(0) // the difference is of the monotonic clock
	if began.After(f.state.StartedAt) {
		return f.state.StartedAt
	}
	return began
}

// mark writes the done marker in the place of an installer that has none, for
// confirm_install: its container may be forgotten by then.
func (f *follower) mark() {
	marker := hostfile.Installed{
		BootID: f.host.BootID(), InvocationID: orElse(f.obs.Unit.InvocationID, f.state.InvocationID), NodeUUID: f.state.NodeUUID, Time: time.Now().UTC(),
	}
	if err := f.host.Write(hostfile.InstalledFile, marker); err != nil {
		f.log.Warn("the done marker of a foreign installer could not be written", "error", err)
	}
}

func (f *follower) judge() Verdict {
	v := Decide(f.obs)
	if v.Rule != f.rule {
		f.rule = v.Rule
		f.log.Info("decided", "rule", v.Rule, "action", v.Action, "cause", v.Cause,
			"active", f.obs.Unit.ActiveState, "sub", f.obs.Unit.SubState)
	}
	return v
}

// startAnswered notes the start job's result. A job that failed is not the end
// as long as systemd starts the unit again.
func (f *follower) startAnswered(ctx context.Context, a answer) (Cause, bool) {
	if a.err != nil {
		short, done := context.WithTimeout(ctx, evidenceTime)
		defer done()
		f.look(short)
		if v := Decide(f.obs); v.Action == Finish {
			return v.Cause, true // the unit's own state says it better
		}
		return StartRefused, true
	}
	f.log.Info("the start job was answered", "result", a.result)
	f.obs.Started, f.obs.Job = true, a.result
	f.look(ctx)
	return "", false
}

// stopAnswered notes the stop job's result. The unit's own news of its end may
// come later; without a look at it the step would stop it a second time.
func (f *follower) stopAnswered(ctx context.Context, a answer) {
	if a.err != nil {
		f.log.Warn("the stop job failed", "error", a.err)
		return
	}
	f.look(ctx)
}

// look reads the unit now: an update may be older than the answer of a job.
func (f *follower) look(ctx context.Context) {
	if unit, err := f.units.Unit(ctx, hostfile.AgentUnit); err == nil {
		f.see(unit)
	}
}

// see takes a snapshot of the unit: into the observation, the step file and the
// progress.
func (f *follower) see(u systemd.Properties) {
	before := f.obs.Unit
	f.obs.see(u, f.said(u), time.Now())
	// The id of an earlier run stays on the unit until it is started.
	if (f.obs.Started || !u.Ended()) && u.InvocationID != "" && u.InvocationID != f.state.InvocationID && !f.installed() {
		f.state.InvocationID = u.InvocationID
		f.keep()
		f.readFiles()
	}
	if u != before {
		f.showProgress(u)
	}
}

// said is what the agent says by its status: by its file, which is written before the
// unit's text changes, or by the text of an agent that keeps none.
func (f *follower) said(u systemd.Properties) hostfile.Status {
	if u.StatusText == "" {
		return hostfile.Status{Percent: -1} // a new run has said nothing yet
	}
	if s, ok := f.host.Status(u.InvocationID); ok {
		return s
	}
	return hostfile.ParseStatus(u.StatusText)
}

// installed tells whether the run in the step file has left its done marker. The
// step file stays with that run then: confirm_install compares the two.
func (f *follower) installed() bool {
	_, done := f.host.Marker(f.state.InvocationID)
	return done
}

// showProgress reports the agent's status, or what systemd does while there is none.
func (f *follower) showProgress(u systemd.Properties) {
	s := f.obs.Status
	if f.obs.Part() == hostfile.PartStarting || u.StatusText == "" {
		text := u.ActiveState + " (" + u.SubState + ")"
		if words := f.obs.LastEnd.EndInWords(); words != "" {
			text += ", after the agent " + words
		}
		f.progress(f.obs.Part(), 0, text)
		return
	}
	stage := orElse(s.Stage, f.obs.Part())
	f.progress(stage, s.Percent, orElse(s.Text, stage))
}

// readFiles looks at the gate, the marker and the stop file.
func (f *follower) readFiles() {
	f.obs.Gate = f.host.GateOpen()
	_, valid := f.host.Marker(f.state.InvocationID, f.obs.Unit.InvocationID)
	f.obs.seeMarker(valid, time.Now())
	if who := f.host.StopAsked(); who != "" {
		f.cancel(who)
	}
}

func (f *follower) cancel(who string) {
	if f.obs.Cancelled == "" {
		f.obs.Cancelled = who
		f.log.Info("the step is cancelled", "by", who)
	}
}

// lost reports the end of a step that systemd does not answer any more. A marker
// counts all the same: the installation is done.
func (f *follower) lost(ctx context.Context, c Cause, err error) step.Report {
	f.readFiles()
	if f.obs.Marker {
		c = Installed
	}
	return f.report(ctx, c, err)
}

// report collects the evidence and puts the end into words.
func (f *follower) report(ctx context.Context, c Cause, cause error) step.Report {
	e := Evidence{Unit: hostfile.AgentUnit, Reason: f.host.Reason(), Error: cause, Foreign: f.stopForeign(ctx, c)}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), evidenceTime)
	defer done()
	if m, ok := f.host.Marker(f.state.InvocationID, f.obs.Unit.InvocationID); ok {
		e.Marker = &m
	}
	if c.Outcome() != step.Done {
		invocation := orElse(f.obs.end().InvocationID, f.obs.Unit.InvocationID)
		lines, err := f.units.Journal(ctx, hostfile.AgentUnit, invocation, JournalLines)
		if err != nil {
			f.log.Warn("the unit's journal cannot be read", "error", err)
		}
		e.Journal = lines
	}
	return report(f.obs, c, e)
}

// stopForeign ends the container of a foreign installer when the step gives up: it
// outlives the agent's unit, and would go on writing a disk that nobody owns any more.
// It is asked of systemd, which a step that has lost it cannot do.
func (f *follower) stopForeign(ctx context.Context, c Cause) error {
	if f.foreign == nil || !f.obs.Started || c.Outcome() == step.Done {
		return nil
	}
	if c == SystemdLost {
		if s := f.obs.Status; s.Part == hostfile.PartInstalling && s.Stage == "" {
			return errNotAsked
		}
		return nil
	}
	err := f.foreign.Stop(context.WithoutCancel(ctx))
	if err != nil {
		f.log.Warn("the container of a foreign installer was not stopped", "error", err)
	}
	return err
}

// errNotAsked is why a container may go on when systemd is lost.
var errNotAsked = errors.New("systemd does not answer")
