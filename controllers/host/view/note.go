package view

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Note says what happens to a host right now. Its message holds no clock and no
// counter finer than [Grain] percent, so that it changes rarely.
type Note struct {
	// Step is what is being done, in the words of Ironic or of the phase, such as
	// "start_assisted_install" or "verifying the BMC credentials".
	Step string
	// Percent is how far the step is, 1 to 100; 0 means unknown or not begun.
	Percent int
	// Text is more detail, empty for none.
	Text string
	// WaitingFor names who has to act before it goes on, empty for nobody.
	WaitingFor string
	// Since is when the phase began, in whole seconds UTC; zero when that is not known.
	Since time.Time
}

// Grain is the step width of the percentage in messages.
const Grain = 5

const (
	waitingFor = "; waiting for "
	phaseSince = "; in this phase since "
)

var percentSuffix = regexp.MustCompile(` \((\d{1,3}) %\)$`)

// Message renders the note as one line: "STEP (N %): TEXT; waiting for WHOM; in
// this phase since WHEN", where everything but the step is left out when it is
// not known.
func (n Note) Message() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(oneLine(n.Step), ": ", " - "))
	if p := coarse(n.Percent); p > 0 {
		fmt.Fprintf(&b, " (%d %%)", p)
	}
	if text := strings.ReplaceAll(oneLine(n.Text), waitingFor, ", waiting for "); text != "" {
		b.WriteString(": " + text)
	}
	if whom := oneLine(n.WaitingFor); whom != "" {
		b.WriteString(waitingFor + whom)
	}
	if b.Len() > 0 && !n.Since.IsZero() {
		b.WriteString(phaseSince + n.Since.UTC().Format(time.RFC3339))
	}
	return b.String()
}

// ParseNote reads what [Note.Message] rendered. Any other text becomes the step.
func ParseNote(message string) Note {
	var n Note
	if head, when, found := cutLast(message, phaseSince); found {
		if t, err := time.Parse(time.RFC3339, when); err == nil {
			n.Since, message = t.UTC(), head
		}
	}
	rest, whom, found := cutLast(message, waitingFor)
	if found {
		n.WaitingFor = whom
	}
	n.Step, n.Text, _ = strings.Cut(rest, ": ")
	if m := percentSuffix.FindStringSubmatch(n.Step); m != nil {
		n.Percent, _ = strconv.Atoi(m[1])
		n.Step = strings.TrimSuffix(n.Step, m[0])
	}
	return n
}

// coarse rounds down to the grain, within 0 and 100.
func coarse(percent int) int {
	return min(max(percent, 0), 100) / Grain * Grain
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
