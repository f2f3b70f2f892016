package assisted

import (
	"time"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// Action is what the executor does next.
type Action string

// The executor's whole vocabulary.
const (
	// Wait for the next event, at most until the verdict's time.
	Wait Action = "wait"
	// StopUnit stops the unit, then goes on deciding.
	StopUnit Action = "stop"
	// AskForeign looks for a foreign installer, then goes on deciding.
	AskForeign Action = "ask-foreign"
	// Finish ends the step.
	Finish Action = "finish"
)

// Verdict is the decision over one observation.
type Verdict struct {
	Action Action
	// Cause says why, for StopUnit and Finish.
	Cause Cause
	// Until is when to decide again at the latest, for Wait; zero means no limit.
	Until time.Time
	// Rule is the name of the rule that decided.
	Rule string
}

// rule is one line of the policy. The first whose when holds decides.
type rule struct {
	name string
	when func(Observation) bool
	then func(Observation) Verdict
}

// rules is the state table of the step: the life of the unit from its start job
// to its end, and the truth table of the end.
var rules = []rule{
	// Before the start job was answered an ended unit means nothing yet.
	{"not started, image without the unit", not(started, has(loadState, "not-found")), finish(NoUnit)},
	{"not started, unit masked", not(started, has(loadState, "masked")), finish(UnitMasked)},
	{"not started, unit broken", not(started, has(loadState, "error", "bad-setting")), finish(UnitBroken)},

	// The end of the unit: marker first, then who ended it, then how it ended.
	{"ended, installed", all(ended, marked), finish(Installed)},
	{"ended, stopped by the step", all(ended, stoppedByStep), finishAsStopped},
	{"ended, cancelled on the host", all(ended, cancelled), finish(CancelledHere)},
	{"ended, start job came to nothing", all(ended, inactive, has(jobResult, systemd.JobDependency, systemd.JobSkipped, systemd.JobTimeout)), finish(StartRefused)},
	{"ended, condition not met, gate open", all(ended, inactive, conditionUnmet, gateOpen), finish(ConditionUnmet)},
	{"ended, condition not met, gate closed", all(ended, inactive, conditionUnmet), finish(GateClosed)},
	// An agent that systemd stops because it was not ready in time ends with 91, too.
	{"ended, out of systemd's time", all(ended, has(activeState, "failed"), has(unitResult, "timeout")), finish(UnitFailed)},
	{"ended, exit 91", all(ended, exited(exitcode.AgentCancelled)), finish(AgentCancelled)},
	{"ended, exit 90", all(ended, exited(exitcode.AgentFailed)), finish(AgentFailed)},
	{"ended, start job cancelled", all(ended, has(jobResult, systemd.JobCanceled)), finish(StoppedEarly)},
	{"ended, failed otherwise", all(ended, has(activeState, "failed")), finish(UnitFailed)},
	{"ended, foreign installer done", all(ended, foreign(ForeignDone)), finish(ForeignInstalled)},
	{"ended, foreign installer unknown", all(ended, foreign(ForeignUnasked)), act(AskForeign)},
	{"ended without marker", ended, finish(StoppedEarly)},

	// The unit runs. Whoever was told to stop gets the time to do so.
	{"stopping, time is over", all(stoppedByStep, stopOverdue), finishAsStopped},
	{"stopping", stoppedByStep, waitForStop},
	{"cancelled", cancelled, stop(CancelledHere)},
	// It would do its work, and write the disk, once more. Before the start job was answered it is the first
	// start, of an agent that was faster than the news of it.
	{"installed, starts again", all(started, marked, has(activeState, "activating")), stop(Installed)},
	{"crash loop", Observation.crashLooping, stop(CrashLoop)},
	{"installed, deactivating too long", all(marked, deactivatingOverdue), finish(Installed)},
	{"installed, does not end", all(marked, endOverdue), stop(Installed)},
	{"deactivating too long", deactivatingOverdue, finish(StopHangs)},
	{"a deadline is over", overdue, stopForDeadline},
	{"running", always, waitForDeadline},
}

// Decide is the policy of the step: what to do now, given all that is known.
func Decide(o Observation) Verdict {
	for _, r := range rules {
		if r.when(o) {
			v := r.then(o)
			v.Rule = r.name
			return v
		}
	}
	return Verdict{Action: Wait} // the last rule always holds
}

// Conditions.

func always(Observation) bool          { return true }
func started(o Observation) bool       { return o.Started }
func ended(o Observation) bool         { return o.Started && o.Unit.Ended() }
func marked(o Observation) bool        { return o.Marker }
func cancelled(o Observation) bool     { return o.Cancelled != "" }
func gateOpen(o Observation) bool      { return o.Gate }
func stoppedByStep(o Observation) bool { return o.Stopped != "" }
func inactive(o Observation) bool      { return o.Unit.ActiveState == "inactive" }

func conditionUnmet(o Observation) bool { return !o.Unit.ConditionResult }
func jobResult(o Observation) string    { return o.Job }
func loadState(o Observation) string    { return o.Unit.LoadState }
func activeState(o Observation) string  { return o.Unit.ActiveState }
func unitResult(o Observation) string   { return o.Unit.Result }
func foreign(f Foreign) func(Observation) bool {
	return func(o Observation) bool { return o.Foreign == f }
}

func exited(code int) func(Observation) bool {
	return func(o Observation) bool {
		return has(activeState, "failed")(o) && o.Unit.ExecMainCode == systemd.Exited && o.Unit.ExecMainStatus == code
	}
}

func has(get func(Observation) string, values ...string) func(Observation) bool {
	return func(o Observation) bool {
		for _, v := range values {
			if get(o) == v {
				return true
			}
		}
		return false
	}
}

func all(conditions ...func(Observation) bool) func(Observation) bool {
	return func(o Observation) bool {
		for _, c := range conditions {
			if !c(o) {
				return false
			}
		}
		return true
	}
}

// not holds when the first condition does not, and the second does.
func not(first, second func(Observation) bool) func(Observation) bool {
	return func(o Observation) bool { return !first(o) && second(o) }
}

func stopOverdue(o Observation) bool { return !o.Now.Before(o.Clocks.Stopped.Add(o.stopLimit())) }

func deactivatingOverdue(o Observation) bool {
	since := o.Clocks.Deactivating
	return !since.IsZero() && !o.Now.Before(since.Add(o.stopTime()+endGrace))
}

func endOverdue(o Observation) bool {
	return !o.Now.Before(o.Clocks.Marked.Add(o.stopTime() + endGrace))
}

// Verdicts.

func finish(c Cause) func(Observation) Verdict {
	return func(Observation) Verdict { return Verdict{Action: Finish, Cause: c} }
}

func stop(c Cause) func(Observation) Verdict {
	return func(Observation) Verdict { return Verdict{Action: StopUnit, Cause: c} }
}

func act(a Action) func(Observation) Verdict {
	return func(Observation) Verdict { return Verdict{Action: a} }
}

// finishAsStopped ends the step for the reason for which it stopped the unit.
func finishAsStopped(o Observation) Verdict { return Verdict{Action: Finish, Cause: o.Stopped} }

func waitForStop(o Observation) Verdict {
	return Verdict{Action: Wait, Until: o.Clocks.Stopped.Add(o.stopLimit())}
}
