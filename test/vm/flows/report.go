package flows

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is how a flow went, for a person.
type Report struct {
	// Flow is its name.
	Flow string
	// End is when it was over, Failed why it failed; empty for a success.
	End    time.Time
	Failed string
	// Hosts are the timelines by the hosts' names.
	Hosts map[string]*Timeline
	// Kept is the folder with consoles, journals and pictures, empty for none.
	Kept string
}

// Write writes the report as Markdown: a table of phases, one of steps, and what
// the machine did.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", r.Flow)
	if r.Failed != "" {
		fmt.Fprintf(&b, "\nFailed: %s\n", r.Failed)
	}
	if r.Kept != "" {
		fmt.Fprintf(&b, "\nConsoles, journals and pictures: %s\n", r.Kept)
	}
	names := make([]string, 0, len(r.Hosts))
	for name := range r.Hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t := r.Hosts[name]
		fmt.Fprintf(&b, "\n## %s: %s\n\n", name, seconds(r.End.Sub(t.begin)))
		table(&b, t, "phase", t.Phases(r.End))
		b.WriteByte('\n')
		table(&b, t, "step", t.Steps(r.End))
		if events := t.Events(); len(events) > 0 {
			b.WriteString("\n| at | the machine |\n|---|---|\n")
			happened(&b, t.begin, events)
		}
		reasons(&b, t)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// happened writes a row for each event. The same event again and again, as the errors
// of a disk are, is one row.
func happened(b *strings.Builder, begin time.Time, events []Event) {
	for len(events) > 0 {
		first, times := events[0], 1
		for times < len(events) && events[times].What == first.What {
			times++
		}
		what := cell(first.What)
		if times > 1 {
			what += fmt.Sprintf(" (%d times until %s)", times, seconds(events[times-1].At.Sub(begin)))
		}
		fmt.Fprintf(b, "| %s | %s |\n", seconds(first.At.Sub(begin)), what)
		events = events[times:]
	}
}

func table(b *strings.Builder, t *Timeline, head string, spans []Span) {
	w := tabwriter.NewWriter(b, 0, 1, 1, ' ', 0)
	fmt.Fprintf(w, "| %s\t| from\t| took\t| percent\t|\n|---\t|---\t|---\t|---\t|\n", head)
	for _, s := range spans {
		fmt.Fprintf(w, "| %s\t| %s\t| %s\t| %s\t|\n", cell(s.Name), seconds(s.Begin.Sub(t.begin)), seconds(s.Took()), percents(s.Percents))
	}
	_ = w.Flush() // a strings.Builder takes everything
}

// reasons lists why the host did not go on, each once.
func reasons(b *strings.Builder, t *Timeline) {
	var told []string
	for _, s := range t.Seen() {
		if s.Reason != "" && !slices.Contains(told, s.Reason) {
			told = append(told, s.Reason)
			fmt.Fprintf(b, "\nat %s: %s\n", seconds(s.At.Sub(t.begin)), s.Reason)
		}
	}
}

// percents shows the first and the last of what was seen, and how many between.
func percents(all []int) string {
	switch n := len(all); n {
	case 0:
		return ""
	case 1, 2, 3:
		return strings.Trim(fmt.Sprint(all), "[]")
	default:
		return fmt.Sprintf("%d … %d (%d values)", all[0], all[n-1], n)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// cell keeps a text within its cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", "/", "\n", " ").Replace(text)
}
