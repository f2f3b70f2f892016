package bmcevents

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/bmc/events"
)

// facts are what is decided by.
type facts struct {
	Now time.Time
	// Every is the time between two looks at a subscription that is in order.
	Every time.Duration
	// Away means that the BMC is not to be asked now: it is not known yet, or its
	// firmware is being changed.
	Away bool
	// UnderWay means that something is, on the host.
	UnderWay bool
	// Wanted stands for what is asked of the BMC: key, address, report.
	Wanted string
	// Last is the last look; the zero value for none.
	Last look
}

// look is what was found out about a subscription.
type look struct {
	// At is when, Wanted what was wanted then, and Source that of the host then.
	At             time.Time
	Wanted, Source string
	// Known is the path of the subscription; empty for none.
	Known string
	// Arrives says whether events do, as far as that is known.
	Arrives arrival
	// Stream says that the BMC offers one.
	Stream bool
	// Failures is how many looks have failed in a row.
	Failures int
	// Verdict is what is said of it.
	Verdict verdict
}

// arrived notes that an event has, after all.
func (l *look) arrived() {
	l.Arrives = arrives
	if l.Verdict.Reason == ReasonMissing || l.Verdict.Reason == ReasonUntested {
		l.Verdict = judge(events.State{Did: events.Kept}, arrives, 0, nil)
	}
}

// arrival is whether events of a BMC arrive.
type arrival int

const (
	// untested: nobody knows.
	untested arrival = iota
	// arrives: one has.
	arrives
	// missing: one that was asked for has not.
	missing
)

// plan is what to do.
type plan struct {
	// Look at the subscription, and make it where there is none.
	Look bool
	// Follow the BMC's stream from now on.
	Follow bool
	// Wait until the next look; 0 for a change.
	Wait time.Duration
}

// decide says what is to be done about a host's events.
func decide(f facts) plan {
	p := plan{Follow: f.UnderWay && !f.Away && f.Last.Stream && (f.Last.Known == "" || f.Last.Arrives == missing)}
	if f.Away {
		return p
	}
	due := f.Last.At.Add(again(f.Last.Failures, f.Every))
	if p.Look = f.Last.At.IsZero() || f.Last.Wanted != f.Wanted || !f.Now.Before(due); !p.Look {
		p.Wait = due.Sub(f.Now)
	}
	return p
}

// again is the time until the next look: after a failure one minute, twice as long after
// each further one, and never longer than between others.
func again(failures int, every time.Duration) time.Duration {
	if failures == 0 {
		return every
	}
	return min(time.Minute<<min(failures-1, 6), every)
}

// proves reports whether a BMC is asked for a test event: when its subscription was made,
// or found without a word about it, and as long as none has arrived that was asked for.
func proves(did events.Did, before arrival) bool {
	return did == events.Made || did == events.Adopted && before != arrives || did == events.Kept && before == missing
}

// Reasons of Subscribed.
const (
	ReasonArrives     = "EventsArrive"
	ReasonUntested    = "NotTested"
	ReasonMissing     = "EventsDoNotArrive"
	ReasonNotPossible = "NotPossible"
	ReasonUnreachable = "BMCUnreachable"
)

// verdict is a condition's status with what belongs to it.
type verdict struct {
	Status          metav1.ConditionStatus
	Reason, Message string
}

// unless is the verdict that stands, where this one says the same with fewer words.
func (v verdict) unless(stands *metav1.Condition) verdict {
	if stands != nil && v.Reason == ReasonArrives && stands.Reason == v.Reason {
		return verdict{stands.Status, stands.Reason, stands.Message}
	}
	return v
}

// judge says how a subscription stands. took is how long a test event has taken, 0 for
// no test; stream tells that there is another way.
func judge(state events.State, a arrival, took time.Duration, problem error) verdict {
	other := "it is asked from time to time instead"
	if state.Stream {
		other = "its stream is read while something is under way on the host"
	}
	switch {
	case state.Did == events.Nothing:
		return verdict{metav1.ConditionFalse, ReasonNotPossible, fmt.Sprintf("%s; %s", state.Problem, other)}
	case a == missing:
		return verdict{metav1.ConditionFalse, ReasonMissing, fmt.Sprintf("the BMC has the subscription, but %v; %s", problem, other)}
	case a == untested:
		return verdict{metav1.ConditionTrue, ReasonUntested, "the BMC has the subscription; whether its events arrive shows with the first"}
	case took > 0:
		return verdict{metav1.ConditionTrue, ReasonArrives, fmt.Sprintf("the BMC's events arrive, the test event after %.1f s", took.Seconds())}
	default:
		return verdict{metav1.ConditionTrue, ReasonArrives, "the BMC's events arrive"}
	}
}
