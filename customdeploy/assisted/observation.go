package assisted

import (
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// Defaults are the deadlines when neither the live image nor the step's
// arguments set any. Waiting has no total deadline; the idle deadline counts
// there, and in the installation each stage's own limit.
var Defaults = step.Deadlines{Start: 15 * time.Minute, Idle: 20 * time.Minute, Total: 4 * time.Hour}

const (
	// endGrace is added to the unit's own stop time wherever it must end.
	endGrace = 10 * time.Second
	// cancelLimit is how long a cancelled unit may take to stop.
	cancelLimit = 30 * time.Second
	// defaultStop stands for a unit without a stop timeout.
	defaultStop = 90 * time.Second
	// So many restarts in so much time are a crash loop.
	maxRestarts   = 5
	restartWindow = 10 * time.Minute
)

// Foreign is what is known of an installer that writes no done marker.
type Foreign string

// States of [Observation.Foreign].
const (
	// ForeignUnasked means that nobody has looked yet.
	ForeignUnasked Foreign = ""
	// ForeignDone means that its container ended with exit 0.
	ForeignDone Foreign = "done"
	// ForeignNone means that there is none, or that it failed.
	ForeignNone Foreign = "none"
)

// Observation is all that is known at one moment.
type Observation struct {
	Now    time.Time
	Limits step.Deadlines
	Unit   systemd.Properties
	// Started is set once the start job was answered, and from the beginning
	// when the step follows a unit that runs already. Before that, an inactive
	// unit means nothing.
	Started bool
	// Job is the answer to the start job.
	Job string
	// Gate tells whether the gate is open.
	Gate bool
	// Marker tells whether a valid done marker is there, Foreign the same of others.
	Marker  bool
	Foreign Foreign
	// Cancelled says who cancelled on the host; empty for nobody.
	Cancelled string
	// Stopped says why the step itself stopped the unit; empty if it did not.
	Stopped Cause
	// Clocks are what the deadlines count from.
	Clocks Clocks
	// Status is the agent's last status, LastText the last that was not empty.
	Status   hostfile.Status
	LastText string
	// LastEnd is the unit when its main process last ended badly: a restart
	// wipes what systemd knows of it.
	LastEnd systemd.Properties
}

// Clocks are the moments that deadlines count from; zero means not yet.
type Clocks struct {
	// Begun is when the step began.
	Begun time.Time
	// Starting is when the unit began to start, without a READY since then.
	Starting time.Time
	// Sign is the last sign of life: a change of state or status text.
	Sign time.Time
	// Installing is when the installation began; Stage when its present stage did.
	Installing, Stage time.Time
	// Excluded is the time of finished stages that do not count towards the total.
	Excluded time.Duration
	// Marked is when the done marker was seen.
	Marked time.Time
	// Deactivating is when the unit began to stop, Stopped when the step asked it to.
	Deactivating, Stopped time.Time
	// Restarts are the latest automatic restarts.
	Restarts []time.Time
}

// Part is the part of the step's life that the observation is in.
func (o Observation) Part() string {
	switch {
	case o.Marker:
		return hostfile.PartEnding
	case !o.Clocks.Starting.IsZero():
		return hostfile.PartStarting
	case !o.Clocks.Installing.IsZero():
		return hostfile.PartInstalling
	default:
		return hostfile.PartWaiting
	}
}

// stopTime is how long systemd gives the unit to stop.
func (o Observation) stopTime() time.Duration {
	if o.Unit.TimeoutStop <= 0 {
		return defaultStop
	}
	return o.Unit.TimeoutStop
}

// stopLimit is how long the step waits for the end of a unit that it has stopped.
func (o Observation) stopLimit() time.Duration {
	limit := o.stopTime() + endGrace
	if o.Stopped == CancelledHere {
		limit = min(limit, cancelLimit)
	}
	return limit
}

// see folds a new snapshot of the unit, and what its agent says by it, into the
// observation.
func (o *Observation) see(u systemd.Properties, said hostfile.Status, now time.Time) {
	before := o.Unit
	o.Now, o.Unit = now, u
	c := &o.Clocks
	moved := before.ActiveState != u.ActiveState || before.SubState != u.SubState || before.StatusText != u.StatusText
	if moved && o.Stopped == "" { // what a unit does because it is stopped is no sign of life
		c.Sign = now
	}
	if before.InvocationID != "" {
		for range u.NRestarts - before.NRestarts {
			c.Restarts = append(c.Restarts, now)
		}
	}
	switch u.ActiveState {
	case "activating":
		if c.Starting.IsZero() {
			c.Starting = now
		}
		c.Deactivating = time.Time{}
	case "active", "reloading":
		c.Starting, c.Deactivating = time.Time{}, time.Time{}
	case "deactivating":
		if c.Deactivating.IsZero() {
			c.Deactivating = now
		}
	}
	// A run that the step stopped in its crash loop ended because of that, not as the others did.
	if u.ExecMainCode != 0 && u.Result != "success" && o.Stopped != CrashLoop {
		o.LastEnd = u
	}
	// What an agent says because it was stopped would hide what it was at.
	if u.StatusText != before.StatusText && u.StatusText != "" && o.Stopped == "" {
		o.seeStatus(said, now)
	}
}

func (o *Observation) seeStatus(s hostfile.Status, now time.Time) {
	o.LastText = o.Unit.StatusText
	before := o.Status
	o.Status = s
	c := &o.Clocks
	switch s.Part {
	case hostfile.PartInstalling, hostfile.PartEnding:
		if c.Installing.IsZero() {
			c.Installing, c.Stage = now, now
			return
		}
		if s.Stage != before.Stage {
			if waitsForOthers(before.Stage) {
				c.Excluded += now.Sub(c.Stage)
			}
			c.Stage = now
		}
	case hostfile.PartWaiting:
		// The hub took the host back (a reset): a new installation has new clocks.
		c.Installing, c.Stage, c.Excluded = time.Time{}, time.Time{}, 0
	}
}

// seeMarker notes the done marker.
func (o *Observation) seeMarker(valid bool, now time.Time) {
	if valid && !o.Marker {
		o.Marker = true
		if o.Clocks.Marked.IsZero() { // an earlier program may have seen it
			o.Clocks.Marked = now
		}
	}
}

// crashLooping tells whether the agent was restarted too often of late.
func (o Observation) crashLooping() bool {
	recent := 0
	for _, t := range o.Clocks.Restarts {
		if o.Now.Sub(t) < restartWindow {
			recent++
		}
	}
	return recent >= maxRestarts
}
