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
//	waiting     idle only: nobody knows how long a person takes to approve
//	installing  the stage's own limit, the total without the time in which others are waited for, and a longer idle
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
		list := []deadline{
			{StageDeadline, c.Stage.Add(stageLimit(stage))},
			{IdleDeadline, c.Sign.Add(o.idleInstalling())},
		}
		if !waitsForOthers(stage) {
			list = append(list, deadline{TotalDeadline, c.Installing.Add(o.Limits.Total + c.Excluded)})
		}
		return list
	default:
		if o.LastText == "" {
			// An agent that never says anything cannot fall silent.
			return nil
		}
		return []deadline{{IdleDeadline, c.Sign.Add(o.Limits.Idle)}}
	}
}

// idleInstalling is how long an installation may be silent: an hour, or as long
// as the stage may take, because not every stage has something to tell.
func (o Observation) idleInstalling() time.Duration {
	idle := max(o.Limits.Idle, otherStage)
	if waitsForOthers(o.Status.Stage) {
		return idle
	}
	return max(idle, stageLimit(o.Status.Stage))
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
