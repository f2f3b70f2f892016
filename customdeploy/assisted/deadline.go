package assisted

import (
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

// deadline is a moment at which the unit is stopped, and why.
type deadline struct {
	cause Cause
	at    time.Time
}

// deadlines lists the deadlines that count in the present part of the life:
//
//	starting    start, from the gate or the crash to READY
//	waiting     idle only: nobody knows how long a person takes to approve; of a unit that
//	            never says anything nothing is known, and the total counts from its start
//	installing  the stage's own limit where the agent knows the stage, the total without the time in which others are
//	            waited for, and a longer idle
//	ending      the time that the unit may take to stop
func (o Observation) deadlines() []deadline {
	c := o.Clocks
	if !c.Deactivating.IsZero() {
		return []deadline{{StopHangs, c.Deactivating.Add(o.stopTime() + endGrace)}}
	}
	switch o.Part() {
	case hostfile.PartStarting:
		return []deadline{{StartDeadline, c.Starting.Add(o.Limits.Start)}}
	case hostfile.PartEnding:
		return []deadline{{Installed, c.Marked.Add(o.stopTime() + endGrace)}}
	case hostfile.PartInstalling:
		stage := o.Status.Stage
		list := []deadline{{IdleDeadline, c.Sign.Add(o.idleInstalling())}}
		if stage != "" { // an installer that reports its stages to the hub alone is late in none
			list = append(list, deadline{StageDeadline, c.Stage.Add(o.stageLimit())})
		}
		if !waitsForOthers(stage) {
			list = append(list, deadline{TotalDeadline, c.Installing.Add(o.Limits.Total + c.Excluded)})
		}
		return list
	default:
		switch {
		case c.Sign.IsZero(): // the unit was not looked at yet
			return nil
		case o.LastText == "":
			// An agent that never says anything cannot fall silent.
			return []deadline{{TotalDeadline, c.Sign.Add(o.Limits.Total)}}
		}
		return []deadline{{IdleDeadline, c.Sign.Add(o.Limits.Idle)}}
	}
}

// idleInstalling is how long an installation may be silent: an hour, or as long
// as the stage may take, because not every stage has something to tell.
func (o Observation) idleInstalling() time.Duration {
	idle := max(o.Limits.Idle, otherStage)
	if o.Status.Stage == "" || waitsForOthers(o.Status.Stage) {
		return idle
	}
	return max(idle, stageLimit(o.Status.Stage))
}

// stageLimit is how long the present stage may take. A limit that was asked for
// does not bind the stages that wait for other machines.
func (o Observation) stageLimit() time.Duration {
	if stage := o.Status.Stage; o.Limits.Stage <= 0 || waitsForOthers(stage) {
		return stageLimit(stage)
	}
	return o.Limits.Stage
}

// next is the earliest deadline.
func (o Observation) next() (deadline, bool) {
	var first deadline
	for _, d := range o.deadlines() {
		if first.at.IsZero() || d.at.Before(first.at) {
			first = d
		}
	}
	return first, !first.at.IsZero()
}

func overdue(o Observation) bool {
	d, ok := o.next()
	return ok && !o.Now.Before(d.at)
}

func stopForDeadline(o Observation) Verdict {
	d, _ := o.next()
	return Verdict{Action: StopUnit, Cause: d.cause}
}

func waitForDeadline(o Observation) Verdict {
	d, _ := o.next()
	return Verdict{Action: Wait, Until: d.at}
}
