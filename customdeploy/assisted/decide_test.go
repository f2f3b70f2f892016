package assisted

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// now is the moment of every observation in the table, t0 an hour before.
var (
	now = time.Date(2026, 1, 2, 13, 0, 0, 0, time.UTC)
	t0  = now.Add(-time.Hour)
)

// running is an observation in the middle of a good installation.
func running() Observation {
	return Observation{
		Now: now, Limits: Defaults, Started: true, Job: systemd.JobDone, Gate: true,
		Unit: systemd.Properties{
			LoadState: "loaded", ActiveState: "active", SubState: "running", Result: "success",
			ConditionResult: true, InvocationID: "aa", TimeoutStop: 30 * time.Second,
		},
		Clocks: Clocks{Begun: t0, Sign: now, Installing: now.Add(-10 * minute), Stage: now.Add(-5 * minute)},
		Status: hostfile.Status{Part: hostfile.PartInstalling, Stage: "Writing image to disk", Percent: 40}, LastText: "x",
	}
}

type change = func(*Observation)

func unit(active, sub, result string) change {
	return func(o *Observation) { o.Unit.ActiveState, o.Unit.SubState, o.Unit.Result = active, sub, result }
}

func exit(code int) change {
	return func(o *Observation) {
		unit("failed", "failed", "exit-code")(o)
		o.Unit.ExecMainCode, o.Unit.ExecMainStatus = systemd.Exited, code
	}
}

func load(state string) change {
	return func(o *Observation) {
		o.Started = false
		unit("inactive", "dead", "success")(o)
		o.Unit.LoadState = state
	}
}

func withMarker(o *Observation)       { o.Marker, o.Clocks.Marked = true, now.Add(-time.Second) }
func cancelledNow(o *Observation)     { o.Cancelled = "the signal terminated" }
func noAgentContainer(o *Observation) { o.Foreign = ForeignNone }
func waiting(o *Observation) {
	o.Clocks.Installing, o.Clocks.Stage, o.Status = time.Time{}, time.Time{}, hostfile.Status{Part: hostfile.PartWaiting}
}

func stoppedFor(c Cause, ago time.Duration) change {
	return func(o *Observation) { o.Stopped, o.Clocks.Stopped = c, now.Add(-ago) }
}

func starting(ago time.Duration) change {
	return func(o *Observation) {
		unit("activating", "start", "success")(o)
		waiting(o)
		o.Clocks.Starting = now.Add(-ago)
	}
}

func deactivating(ago time.Duration) change {
	return func(o *Observation) {
		unit("deactivating", "stop-sigterm", "success")(o)
		o.Clocks.Deactivating = now.Add(-ago)
	}
}

func stage(name string, ago time.Duration) change {
	return func(o *Observation) {
		o.Status.Stage, o.Clocks.Stage = name, now.Add(-ago)
		if o.Clocks.Installing.After(o.Clocks.Stage) {
			o.Clocks.Installing = o.Clocks.Stage
		}
	}
}

var stoppedUnit = unit("inactive", "dead", "success")

func TestDecide(t *testing.T) {
	finish := func(c Cause) Verdict { return Verdict{Action: Finish, Cause: c} }
	stop := func(c Cause) Verdict { return Verdict{Action: StopUnit, Cause: c} }
	until := func(in time.Duration) Verdict { return Verdict{Action: Wait, Until: now.Add(in)} }
	used := map[string]bool{}
	for _, tc := range []struct {
		name    string
		changes []change
		want    Verdict
	}{
		{"image without the unit", []change{load("not-found")}, finish(NoUnit)},
		{"masked unit", []change{load("masked")}, finish(UnitMasked)},
		{"unit file with a mistake", []change{load("bad-setting")}, finish(UnitBroken)},
		{"unit file that cannot be read", []change{load("error")}, finish(UnitBroken)},
		{"not started yet: an inactive unit means nothing", []change{load("loaded"), starting(time.Minute), stoppedUnit}, until(14 * minute)},

		// The truth table of the end (unit × marker × cancelled).
		{"inactive, marker", []change{stoppedUnit, withMarker}, finish(Installed)},
		{"failed, marker", []change{exit(1), withMarker}, finish(Installed)},
		{"failed 90, marker", []change{exit(90), withMarker}, finish(Installed)},
		{"inactive, marker, cancelled", []change{stoppedUnit, withMarker, cancelledNow}, finish(Installed)},
		{"failed, marker, stopped for a deadline", []change{unit("failed", "failed", "timeout"), withMarker, stoppedFor(TotalDeadline, time.Second)}, finish(Installed)},
		{"inactive, no marker", []change{stoppedUnit, noAgentContainer}, finish(StoppedEarly)},
		{"inactive, no marker, foreign not asked", []change{stoppedUnit}, Verdict{Action: AskForeign}},
		{"inactive, no marker, foreign done", []change{stoppedUnit, func(o *Observation) { o.Foreign = ForeignDone }}, finish(ForeignInstalled)},
		{"failed 90, no marker", []change{exit(90)}, finish(AgentFailed)},
		{"failed 91, no marker", []change{exit(91)}, finish(AgentCancelled)},
		{"failed 91, no marker, cancelled", []change{exit(91), cancelledNow}, finish(CancelledHere)},
		{"inactive, no marker, cancelled", []change{stoppedUnit, cancelledNow, stoppedFor(CancelledHere, time.Second)}, finish(CancelledHere)},
		{"failed 91 because systemd stopped it: not ready in its time", []change{exit(91), func(o *Observation) { o.Unit.Result = "timeout" }}, finish(UnitFailed)},
		{"failed otherwise, no marker", []change{exit(1)}, finish(UnitFailed)},
		{"killed, no marker", []change{unit("failed", "failed", "signal")}, finish(UnitFailed)},
		{"condition not met though the gate is open", []change{stoppedUnit, func(o *Observation) { o.Unit.ConditionResult = false }}, finish(ConditionUnmet)},
		{"condition not met, gate gone", []change{stoppedUnit, func(o *Observation) { o.Unit.ConditionResult, o.Gate = false, false }}, finish(GateClosed)},
		{"stopped by a person in the pre-start", []change{unit("failed", "failed", "signal"), func(o *Observation) { o.Job = systemd.JobCanceled }}, finish(StoppedEarly)},
		{"a dependency failed", []change{stoppedUnit, func(o *Observation) { o.Job, o.Unit.ConditionResult = systemd.JobDependency, false }}, finish(StartRefused)},
		{"failed on the way to a restart (newer systemd)", []change{exit(1), func(o *Observation) { o.Unit.SubState = "failed-before-auto-restart" }}, until(35 * minute)},

		// Running states are never an end.
		{"deactivating", []change{deactivating(10 * time.Second)}, until(30 * time.Second)},
		{"reloading", []change{unit("reloading", "reload", "success")}, until(35 * minute)},
		{"maintenance", []change{unit("maintenance", "cleaning", "success")}, until(35 * minute)},
		{"deactivating too long", []change{deactivating(40 * time.Second)}, finish(StopHangs)},
		{"deactivating too long, marker", []change{deactivating(40 * time.Second), withMarker}, finish(Installed)},
		{"marker, the agent does not end", []change{func(o *Observation) { o.Marker, o.Clocks.Marked = true, now.Add(-40*time.Second) }}, stop(Installed)},
		{"marker, the agent crashed and starts again", []change{unit("activating", "auto-restart", "exit-code"), withMarker}, stop(Installed)},
		{"marker of an agent that was faster than systemd's answer", []change{starting(time.Minute), withMarker, func(o *Observation) { o.Started = false }}, until(39 * time.Second)},
		{"marker, the agent is about to end", []change{withMarker}, until(39 * time.Second)},

		// Crash loop and cancel.
		{"five restarts in ten minutes", []change{starting(0), restarts(5, 9*minute)}, stop(CrashLoop)},
		{"five restarts, one long ago", []change{starting(0), restarts(5, 11*minute)}, until(15 * minute)},
		{"cancelled", []change{cancelledNow}, stop(CancelledHere)},
		{"cancelled, being stopped", []change{cancelledNow, stoppedFor(CancelledHere, 10*time.Second)}, until(20 * time.Second)},
		{"cancelled, does not stop", []change{cancelledNow, stoppedFor(CancelledHere, 30*time.Second)}, finish(CancelledHere)},
		{"stopped for a deadline, being stopped", []change{stoppedFor(StartDeadline, 10*time.Second)}, until(30 * time.Second)},

		// Deadlines of each part.
		{"starting", []change{starting(10 * minute)}, until(5 * minute)},
		{"starting too long", []change{starting(15 * minute)}, stop(StartDeadline)},
		{"waiting has no total deadline", []change{waiting, func(o *Observation) { o.Clocks.Begun = now.Add(-1000 * time.Hour) }}, until(20 * minute)},
		{"waiting without a sign", []change{waiting, func(o *Observation) { o.Clocks.Sign = now.Add(-20 * minute) }}, stop(IdleDeadline)},
		{"a foreign agent never says anything", []change{waiting, func(o *Observation) { o.LastText, o.Clocks.Sign = "", t0 }}, until(3 * 60 * minute)},
		{"a foreign agent does not come to an end", []change{waiting, func(o *Observation) { o.LastText, o.Clocks.Sign = "", now.Add(-4*time.Hour) }}, stop(TotalDeadline)},
		{"stage limit of the image", []change{stage("Writing image to disk", 10*minute), func(o *Observation) { o.Limits.Stage = 11 * minute }}, until(minute)},
		{"stage limit of the image does not bind other machines", []change{stage("Waiting for control plane", 20*time.Hour), func(o *Observation) { o.Limits.Stage = 11 * minute }}, until(60 * minute)},
		{"stage limit", []change{stage("Writing image to disk", 39*minute)}, until(minute)},
		{"stage too long", []change{stage("Writing image to disk", 40*minute)}, stop(StageDeadline)},
		{"waiting for other machines", []change{stage("Waiting for control plane", 20*time.Hour)}, until(60 * minute)},
		{"waiting for other machines without a sign", []change{stage("Waiting for control plane", 20*time.Hour), func(o *Observation) { o.Clocks.Sign = t0 }}, stop(IdleDeadline)},
		{"total", []change{stage("Installing", minute), func(o *Observation) { o.Clocks.Installing = now.Add(-4 * time.Hour) }}, stop(TotalDeadline)},
		{"total does not count the time of others", []change{stage("Installing", minute), func(o *Observation) {
			o.Clocks.Installing, o.Clocks.Excluded = now.Add(-10*time.Hour), 7*time.Hour
		}}, until(60 * minute)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			o := running()
			for _, change := range tc.changes {
				change(&o)
			}
			v := Decide(o)
			used[v.Rule] = true
			v.Rule = ""
			g.Expect(v).To(Equal(tc.want))
		})
	}
	for _, r := range rules {
		if !used[r.name] {
			t.Errorf("rule %q is hit by no case", r.name)
		}
	}
}

func restarts(n int, span time.Duration) change {
	return func(o *Observation) {
		for i := range n {
			o.Clocks.Restarts = append(o.Clocks.Restarts, now.Add(-span+time.Duration(i)*time.Second))
		}
	}
}

// TestDecideKeepsGoing walks through time without any event: whatever waits
// must come to an end, except for what has no deadline on purpose.
func TestDecideKeepsGoing(t *testing.T) {
	for name, c := range map[string]change{"starting": starting(0), "installing": func(*Observation) {}, "deactivating": deactivating(0), "marked": withMarker} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := running()
			c(&o)
			for range 10 {
				v := Decide(o)
				if v.Action == Finish {
					return
				}
				if v.Action == StopUnit {
					o.Stopped, o.Clocks.Stopped = v.Cause, o.Now
					continue
				}
				g.Expect(v.Until.After(o.Now)).To(BeTrue(), "a wait into the past is a busy loop: %+v", v)
				o.Now = v.Until
			}
			t.Fatal("it waits for ever")
		})
	}
}

func TestEveryCauseHasOutcomeAndText(t *testing.T) {
	g := NewWithT(t)
	o := running()
	o.Clocks.Restarts = []time.Time{t0}
	o.Clocks.Starting, o.Clocks.Deactivating = t0, t0
	seen := map[string]Cause{}
	for c := range outcomes {
		g.Expect(c.Outcome()).NotTo(BeEmpty())
		if c == Installed || c == ForeignInstalled {
			continue
		}
		text := headline(o, c, Evidence{Unit: "agent.service"})
		g.Expect(text).NotTo(BeEmpty())
		g.Expect(seen).NotTo(HaveKey(text), "causes %s and %s read alike", c, seen[text])
		seen[text] = c
	}
}
