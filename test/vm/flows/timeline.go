package flows

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// Seen is what a user reads of a host, from a moment on.
type Seen struct {
	At                         time.Time
	Phase, Step, Text, Waiting string
	Percent                    int
	Reason                     string
	PoweredOn                  bool
}

// Event is something that a machine or its BMC did.
type Event struct {
	At time.Time
	// What is one line, such as "power on" or "reset".
	What string
}

// Timeline records one host. Its methods may be called from several goroutines.
type Timeline struct {
	// Tell hears each news as a line, for whoever waits; nil for nobody. It is set before
	// anything is recorded.
	Tell func(line string)

	begin time.Time

	mu     sync.Mutex
	seen   []Seen
	events []Event
}

// NewTimeline begins at the moment.
func NewTimeline(begin time.Time) *Timeline { return &Timeline{begin: begin} }

// Look records a view of the host, if it tells anything new.
func (t *Timeline) Look(at time.Time, v view.View) {
	s := Seen{
		At: at, Phase: v.Phase, Step: v.Step, Percent: v.Percent, Text: v.Text, Waiting: v.WaitingFor,
		Reason: v.Reason, PoweredOn: v.PoweredOn,
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.seen); n > 0 {
		last := t.seen[n-1]
		last.At = at
		if last == s {
			return
		}
	}
	if n := len(t.seen); n == 0 || stage(t.seen[n-1]) != stage(s) {
		t.tell(at, stage(s))
	}
	t.seen = append(t.seen, s)
}

// stage names what a host is at, with the reason of a failure.
func stage(s Seen) string {
	name := stepName(s)
	if s.Reason != "" {
		name += ": " + s.Reason
	}
	return name
}

// tell passes a line on.
func (t *Timeline) tell(at time.Time, what string) {
	if t.Tell != nil && what != "" {
		t.Tell(fmt.Sprintf("after %s: %s", seconds(at.Sub(t.begin)), what))
	}
}

// Happened records an event.
func (t *Timeline) Happened(at time.Time, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(at, what)
	t.events = append(t.events, Event{at, what})
}

// Seen lists what was seen, in its order.
func (t *Timeline) Seen() []Seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.seen)
}

// Events lists what happened, in the order of time.
func (t *Timeline) Events() []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	events := slices.Clone(t.events)
	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })
	return events
}

// Span is a stretch of time with one name.
type Span struct {
	Name       string
	Begin, End time.Time
	// Percents are the percentages that were seen in it, in their order, without repetitions.
	Percents []int
}

// Took is the span's length.
func (s Span) Took() time.Duration { return s.End.Sub(s.Begin) }

// Phases are the phases of the host one after another, until end.
func (t *Timeline) Phases(end time.Time) []Span {
	return spans(t.Seen(), end, func(s Seen) string { return s.Phase })
}

// Steps are the steps within the phases, "PHASE: STEP: TEXT".
func (t *Timeline) Steps(end time.Time) []Span {
	return spans(t.Seen(), end, stepName)
}

func stepName(s Seen) string {
	var name strings.Builder
	name.WriteString(s.Phase)
	for _, part := range []string{s.Step, written.ReplaceAllString(s.Text, "")} {
		if part != "" {
			name.WriteString(": " + part)
		}
	}
	return name.String()
}

// written is how far the installer has written the disk, at the end of a text.
var written = regexp.MustCompile(` - (\d+)%$`)

// Written is how far the installer has written the disk, in percent; 0 if it does not write.
func Written(v view.View) int {
	found := written.FindStringSubmatch(v.Text)
	if found == nil {
		return 0
	}
	percent, _ := strconv.Atoi(found[1]) // it is a number
	return percent
}

// spans joins what follows each other under the same name.
func spans(seen []Seen, end time.Time, name func(Seen) string) []Span {
	var all []Span
	for i, s := range seen {
		until := end
		if i+1 < len(seen) {
			until = seen[i+1].At
		}
		if n := len(all); n == 0 || all[n-1].Name != name(s) {
			all = append(all, Span{Name: name(s), Begin: s.At})
		}
		last := &all[len(all)-1]
		last.End = until
		if n := len(last.Percents); s.Percent > 0 && (n == 0 || last.Percents[n-1] != s.Percent) {
			last.Percents = append(last.Percents, s.Percent)
		}
	}
	return all
}

// Highest is the highest percentage that was seen with a text that contains this,
// 0 if none was.
func (t *Timeline) Highest(text string) int {
	highest := 0
	for _, s := range t.Seen() {
		if strings.Contains(s.Text, text) {
			highest = max(highest, s.Percent)
		}
	}
	return highest
}
