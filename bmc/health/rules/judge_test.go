package rules

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func fanPart(id string, health string) Part {
	return Part{Domain: Cooling, Kind: Fan, ID: id, Name: "Fan " + id, State: "Enabled", Health: health}
}

func reading(parts ...Part) Reading {
	r := Reading{Time: noon, Parts: parts, Whole: map[Domain]bool{}}
	for _, d := range Domains {
		r.Whole[d] = true
	}
	return r
}

// passes judges readings one after the other and returns the rows of the last, by
// domain, and all alerts.
func passes(t *testing.T, readings ...Reading) (map[Domain]v1alpha1.DomainHealth, Past, []Alert) {
	t.Helper()
	var past Past
	var all []Alert
	byDomain := map[Domain]v1alpha1.DomainHealth{}
	for _, r := range readings {
		rows, next, alerts := Judge(r, past)
		if len(rows) != len(Domains) {
			t.Fatalf("%d rows", len(rows))
		}
		for i, row := range rows {
			if row.Domain != string(Domains[i]) {
				t.Fatalf("row %d is of %s", i, row.Domain)
			}
			byDomain[Domains[i]] = row
		}
		past, all = next, append(all, alerts...)
	}
	return byDomain, past, all
}

// TestJudgeNamesTheWorst part, and says what it shows.
func TestJudgeNamesTheWorst(t *testing.T) {
	g := NewWithT(t)
	r := reading(
		fanPart("1", "OK"), fanPart("3", "Critical"), fanPart("2", "Critical"), fanPart("4", "Warning"),
		Part{Domain: Storage, Kind: Group, ID: "/s", Name: "A subsystem", Health: "OK", Rollup: "Warning"},
		Part{Domain: Storage, Kind: Drive, ID: "/s/d", Name: "Drive 7", Health: "OK", FailurePredicted: true},
		Part{Domain: Memory, Kind: Group, ID: "m", Name: "Memory", Health: "OK"},
	)
	rows, past, alerts := passes(t, r, r)
	g.Expect(rows[Cooling]).To(Equal(v1alpha1.DomainHealth{Domain: "Cooling", State: critical, Message: "Fan 2 reports Critical"}))
	g.Expect(rows[Storage]).To(Equal(v1alpha1.DomainHealth{Domain: "Storage", State: warning, Message: "Drive 7 predicts its failure"}), "the drive rather than what sums it up")
	g.Expect(rows[Memory]).To(Equal(v1alpha1.DomainHealth{Domain: "Memory", State: ok}))
	g.Expect(rows[Power]).To(Equal(v1alpha1.DomainHealth{Domain: "Power", State: unknown, Message: "the BMC shows nothing of it"}))
	g.Expect(past.Pending()).To(BeFalse())
	g.Expect(alerts).To(ConsistOf(
		Alert{Domain: Cooling, Severity: critical, Message: "Cooling: Fan 2 reports Critical", Time: noon},
		Alert{Domain: Storage, Severity: warning, Message: "Storage: Drive 7 predicts its failure", Time: noon},
	))
}

// TestJudgeFirstRead: one read does not make an alert, it asks for another.
func TestJudgeFirstRead(t *testing.T) {
	g := NewWithT(t)
	rows, past, alerts := passes(t, reading(fanPart("1", "Critical")))
	g.Expect(rows[Cooling].State).To(Equal(unknown))
	g.Expect(rows[Cooling].Message).To(ContainSubstring("the next one decides"))
	g.Expect(alerts).To(BeEmpty())
	g.Expect(past.Pending()).To(BeTrue())
}

// TestJudgeMessageStays: a sensor that goes up and down does not change the row.
func TestJudgeMessageStays(t *testing.T) {
	g := NewWithT(t)
	hot := func(v float64) Reading {
		return reading(Part{Domain: Cooling, Kind: Temperature, ID: "inlet", Name: "Inlet", State: "Enabled", Value: &v, Unit: "Cel", UpperCritical: new(45.0)})
	}
	rows, _, alerts := passes(t, hot(50), hot(51), hot(52), hot(49))
	g.Expect(rows[Cooling].Message).To(Equal("Inlet reads 51 Cel, its upper critical limit is 45"))
	g.Expect(alerts).To(HaveLen(1))
}

func TestJudgeOffAndSilent(t *testing.T) {
	g := NewWithT(t)
	bad := reading(fanPart("1", "Critical"))
	off := reading()
	off.Off = true
	off.Logs = []LogReading{{Service: "/log", All: true, End: true}}
	rows, past, alerts := passes(t, bad, bad, off)
	for _, d := range Domains {
		if d == Log {
			g.Expect(rows[d].State).To(Equal(ok), "a log can be read all the same")
			continue
		}
		g.Expect(rows[d]).To(Equal(v1alpha1.DomainHealth{Domain: string(d), State: unknown, Message: "the host is off"}))
	}
	g.Expect(alerts).To(HaveLen(1))

	// On again, and still bad: not told anew. Then well: told.
	again := func(r Reading, past Past) (v1alpha1.HealthState, Past, []Alert) {
		rows, next, alerts := Judge(r, past)
		return rows[1].State, next, alerts
	}
	state, past, alerts := again(bad, past)
	g.Expect(state).To(Equal(unknown))
	g.Expect(alerts).To(BeEmpty())
	state, past, alerts = again(bad, past)
	g.Expect(state).To(Equal(critical))
	g.Expect(alerts).To(BeEmpty())
	_, past, _ = again(reading(fanPart("1", "OK")), past)
	state, past, alerts = again(reading(fanPart("1", "OK")), past)
	g.Expect(state).To(Equal(ok))
	g.Expect(alerts).To(Equal([]Alert{{Domain: Cooling, Severity: ok, Message: "Cooling: is well again", Time: noon}}))

	rows2, _, alerts := Judge(Reading{Time: noon, Silent: "the BMC does not answer"}, past)
	for _, row := range rows2 {
		g.Expect(row.State).To(Equal(unknown))
		g.Expect(row.Message).To(Equal("the BMC does not answer"))
	}
	g.Expect(alerts).To(BeEmpty())
}

// TestJudgeSystem: what another row says is not repeated.
func TestJudgeSystem(t *testing.T) {
	system := func(health string) Part {
		return Part{Domain: System, Kind: Whole, ID: "/1", Name: "System", Rollup: health}
	}
	for name, c := range map[string]struct {
		parts []Part
		want  v1alpha1.HealthState
		text  string
	}{
		"well":                  {[]Part{system("OK")}, ok, ""},
		"explained":             {[]Part{system("Critical"), fanPart("1", "Critical")}, ok, ""},
		"not explained":         {[]Part{system("Critical")}, critical, "the BMC calls the system Critical, and no part that shows why"},
		"explained only partly": {[]Part{system("Critical"), fanPart("1", "Warning")}, critical, "the BMC calls the system Critical, and no part that shows why"},
		"says nothing":          {[]Part{system("")}, unknown, "the BMC says nothing of the system's health"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			rows, _, _ := passes(t, reading(c.parts...), reading(c.parts...))
			g.Expect(rows[System]).To(Equal(v1alpha1.DomainHealth{Domain: "System", State: c.want, Message: c.text}))
		})
	}
}

// TestJudgePartial: a pass that reads only some parts neither forgets the others nor
// keeps one that is gone.
func TestJudgePartial(t *testing.T) {
	g := NewWithT(t)
	partial := func(parts ...Part) Reading { return Reading{Time: noon, Parts: parts} }
	bad, fine := fanPart("1", "Critical"), fanPart("2", "OK")
	rows, past, _ := passes(t, partial(bad), partial(bad), partial(fine), partial(fine))
	g.Expect(rows[Cooling].State).To(Equal(critical))
	g.Expect(rows[Power].Message).To(Equal("not read yet"))

	gone := bad
	gone.State = "Absent"
	_, past, _ = Judge(partial(gone, fine), past)
	out, past, _ := Judge(partial(fine), past)
	g.Expect(out[1].State).To(Equal(ok))

	// A domain that could not be read is Unknown after two such reads.
	missing := Reading{Time: noon, Missing: map[Domain]string{Cooling: "GET /x: status 500"}}
	out, past, _ = Judge(missing, past)
	g.Expect(out[1].State).To(Equal(ok))
	out, _, _ = Judge(missing, past)
	g.Expect(out[1]).To(Equal(v1alpha1.DomainHealth{Domain: "Cooling", State: unknown, Message: "GET /x: status 500"}))
}

func entry(id int, at time.Time, severity v1alpha1.HealthState) Entry {
	return Entry{Service: "/log", ID: strconv.Itoa(id), Created: at, Severity: severity, Message: fmt.Sprintf("entry %d", id)}
}

func log(all bool, entries ...Entry) Reading {
	return Reading{Time: noon, Logs: []LogReading{{Service: "/log", Entries: entries, All: all, End: true}}}
}

// TestJudgeLog: what counts as new.
func TestJudgeLog(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes-60) * time.Minute) }
	e := func(id, minutes int) Entry { return entry(id, at(minutes), critical) }
	resolved := e(2, 2)
	resolved.Resolved = true
	timeless := func(id int) Entry { return entry(id, time.Time{}, warning) }
	for name, c := range map[string]struct {
		passes []Reading
		alerts []string // IDs
		row    v1alpha1.HealthState
	}{
		"the first read tells nothing":           {[]Reading{log(true, e(1, 1), e(2, 2))}, nil, critical},
		"nothing new":                            {[]Reading{log(true, e(1, 1)), log(true, e(1, 1))}, nil, critical},
		"one more":                               {[]Reading{log(true, e(1, 1)), log(true, e(1, 1), e(2, 2))}, []string{"2"}, critical},
		"told once":                              {[]Reading{log(true), log(true, e(1, 1)), log(true, e(1, 1))}, []string{"1"}, critical},
		"good ones are not told":                 {[]Reading{log(true), log(true, entry(1, at(1), ok))}, nil, ok},
		"resolved ones neither":                  {[]Reading{log(true), log(true, resolved)}, nil, ok},
		"resolved later":                         {[]Reading{log(true, e(2, 2)), log(true, resolved)}, nil, ok},
		"cleared":                                {[]Reading{log(true, e(1, 1), e(2, 2)), log(true)}, nil, ok},
		"cleared, and the IDs start anew":        {[]Reading{log(true, e(1, 1), e(2, 2)), log(true, e(1, 5))}, []string{"1"}, critical},
		"cleared, and as many entries as before": {[]Reading{log(true, e(1, 1), e(2, 2)), log(true, e(1, 5), e(2, 6))}, []string{"1", "2"}, critical},
		"overwritten":                            {[]Reading{log(true, e(1, 1), e(2, 2)), log(true, e(3, 3), e(4, 4))}, []string{"3", "4"}, critical},
		"overwritten, and old ones are left":     {[]Reading{log(true, e(2, 2)), log(true, e(1, 1), e(3, 3))}, []string{"3"}, critical},
		"the same second":                        {[]Reading{log(true, e(1, 1)), log(true, e(1, 1), e(2, 1))}, []string{"2"}, critical},
		"only the newest page":                   {[]Reading{log(false, e(1, 1), e(2, 2)), log(false, e(2, 2), e(3, 3))}, []string{"3"}, critical},
		"without times":                          {[]Reading{log(true, timeless(1)), log(true, timeless(1), timeless(2))}, []string{"2"}, warning},
		"without times, cleared":                 {[]Reading{log(true, timeless(7)), log(true, timeless(1))}, []string{"1"}, warning},
		"a day later":                            {[]Reading{log(true, entry(1, noon.Add(-25*time.Hour), critical))}, nil, ok},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			rows, _, alerts := passes(t, c.passes...)
			var ids []string
			for _, a := range alerts {
				g.Expect(a.Domain).To(Equal(Log))
				ids = append(ids, a.ID)
			}
			g.Expect(ids).To(Equal(c.alerts))
			g.Expect(rows[Log].State).To(Equal(c.row))
		})
	}
}

// TestJudgeLogBehind: while an old log is being gone through, nothing of it is new.
func TestJudgeLogBehind(t *testing.T) {
	g := NewWithT(t)
	part := func(end bool, entries ...Entry) Reading {
		return Reading{Time: noon, Logs: []LogReading{{Service: "/log", Entries: entries, End: end}}}
	}
	e := func(id int) Entry { return entry(id, noon.Add(time.Duration(id)*time.Second), warning) }
	_, past, alerts := passes(t, part(false, e(1), e(2)), part(false, e(2), e(3)), part(true, e(3), e(4)))
	g.Expect(alerts).To(BeEmpty())
	_, _, alerts = Judge(part(false, e(4), e(5)), past)
	g.Expect(alerts).To(HaveLen(1))
	g.Expect(alerts[0].ID).To(Equal("5"))
}

// TestJudgeIsBounded: a log that fills up, and a machine on which all is broken.
func TestJudgeIsBounded(t *testing.T) {
	g := NewWithT(t)
	many := log(true)
	for i := range 1000 {
		many.Logs[0].Entries = append(many.Logs[0].Entries, entry(i, noon, critical))
	}
	_, past, alerts := passes(t, log(true), many)
	g.Expect(alerts).To(HaveLen(maxAlerts + 1))
	g.Expect(alerts[0].Message).To(Equal("980 more bad entries before these"))
	g.Expect(past.Entries).To(HaveLen(keptEntries))

	broken := reading()
	for i := range 1000 {
		broken.Parts = append(broken.Parts, fanPart(strconv.Itoa(i), "Critical"))
	}
	_, past, _ = passes(t, broken)
	g.Expect(past.Bad[Cooling]).To(HaveLen(maxBad))
}

// TestJudgeKeepsItsInput: the memory that is given is not changed, so that a pass can
// be made again.
func TestJudgeKeepsItsInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SampledFrom([]string{"OK", "Warning", "Critical", ""})
		draw := func() Reading {
			r := reading()
			for i := range rapid.IntRange(0, 4).Draw(t, "parts") {
				r.Parts = append(r.Parts, fanPart(strconv.Itoa(i), states.Draw(t, "health")))
			}
			r.Off = rapid.Bool().Draw(t, "off")
			r.Logs = log(rapid.Bool().Draw(t, "all"), entry(rapid.IntRange(1, 3).Draw(t, "id"), noon, warning)).Logs
			return r
		}
		var past Past
		for range rapid.IntRange(1, 6).Draw(t, "passes") {
			r := draw()
			before := fmt.Sprintf("%#v", past)
			rows, next, alerts := Judge(r, past)
			again, nextAgain, alertsAgain := Judge(r, past)
			if fmt.Sprintf("%#v", past) != before {
				t.Fatalf("the memory was changed")
			}
			if fmt.Sprint(rows, alerts) != fmt.Sprint(again, alertsAgain) || fmt.Sprintf("%#v", next) != fmt.Sprintf("%#v", nextAgain) {
				t.Fatalf("two judgements of the same differ")
			}
			past = next
		}
	})
}
