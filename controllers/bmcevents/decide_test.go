package bmcevents

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/bmc/events"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestDecide(t *testing.T) {
	good := look{At: noon, Wanted: "a", Known: "/1", Arrives: arrives}
	failed := func(n int) look { l := good; l.Failures = n; return l }
	missed := look{At: noon, Wanted: "a", Known: "/1", Arrives: missing, Stream: true}
	none := look{At: noon, Wanted: "a", Stream: true}
	for name, c := range map[string]struct {
		facts facts
		want  plan
	}{
		"nobody has looked":              {facts{Now: noon, Wanted: "a"}, plan{Look: true}},
		"it was looked just now":         {facts{Now: noon.Add(time.Minute), Wanted: "a", Last: good}, plan{Wait: 14 * time.Minute}},
		"it is time again":               {facts{Now: noon.Add(every), Wanted: "a", Last: good}, plan{Look: true}},
		"something else is wanted":       {facts{Now: noon, Wanted: "b", Last: good}, plan{Look: true}},
		"nothing is known of the BMC":    {facts{Now: noon, Wanted: "a", Away: true}, plan{}},
		"its firmware is being changed":  {facts{Now: noon.Add(every), Wanted: "a", Last: good, Away: true, UnderWay: true}, plan{}},
		"after a failure":                {facts{Now: noon, Wanted: "a", Last: failed(1)}, plan{Wait: time.Minute}},
		"after another one":              {facts{Now: noon, Wanted: "a", Last: failed(2)}, plan{Wait: 2 * time.Minute}},
		"after many":                     {facts{Now: noon, Wanted: "a", Last: failed(100)}, plan{Wait: every}},
		"events arrive, under way":       {facts{Now: noon, Wanted: "a", Last: good, UnderWay: true}, plan{Wait: every}},
		"they do not, at rest":           {facts{Now: noon, Wanted: "a", Last: missed}, plan{Wait: every}},
		"they do not, under way":         {facts{Now: noon, Wanted: "a", Last: missed, UnderWay: true}, plan{Follow: true, Wait: every}},
		"there is no subscription":       {facts{Now: noon, Wanted: "a", Last: none, UnderWay: true}, plan{Follow: true, Wait: every}},
		"there is neither, nor a stream": {facts{Now: noon, Wanted: "a", Last: look{At: noon, Wanted: "a"}, UnderWay: true}, plan{Wait: every}},
	} {
		t.Run(name, func(t *testing.T) {
			c.facts.Every = every
			NewWithT(t).Expect(decide(c.facts)).To(Equal(c.want))
		})
	}
}

// TestProves: a test costs a BMC an event, and is made when something may be learned.
func TestProves(t *testing.T) {
	for did, want := range map[events.Did][3]bool{ // untested, arrives, missing
		events.Made: {true, true, true}, events.Adopted: {true, false, true}, events.Kept: {false, false, true}, events.Nothing: {false, false, false},
	} {
		t.Run(string(did), func(t *testing.T) {
			NewWithT(t).Expect([3]bool{proves(did, untested), proves(did, arrives), proves(did, missing)}).To(Equal(want))
		})
	}
}

// TestAnEventAfterAll: what was missing has arrived, which is then said.
func TestAnEventAfterAll(t *testing.T) {
	g := NewWithT(t)
	l := look{Arrives: missing, Verdict: judge(events.State{Did: events.Kept}, missing, 0, events.ErrNotArrived)}
	g.Expect(l.Verdict.Status).To(Equal(metav1.ConditionFalse))
	l.arrived()
	g.Expect(l.Verdict).To(Equal(verdict{metav1.ConditionTrue, ReasonArrives, "the BMC's events arrive"}))
	stands := &metav1.Condition{Status: metav1.ConditionTrue, Reason: ReasonArrives, Message: "after 0.3 s"}
	g.Expect(l.Verdict.unless(stands).Message).To(Equal("after 0.3 s"))
	g.Expect(l.Verdict.unless(&metav1.Condition{Reason: ReasonUnreachable, Message: "x"}).Message).To(Equal("the BMC's events arrive"))
}
