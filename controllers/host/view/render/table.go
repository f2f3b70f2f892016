// Package render draws hosts as text: a table with one line each, and the tree
// of one host. The CLI and the demo show the same picture with it.
//
// It is pure: what it draws comes in as values, the clock too.
package render

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// barCells is the width of the progress bar.
const barCells = 10

// TableOptions choose what a table shows. The zero value is a plain table.
type TableOptions struct {
	// Namespace adds a column for it.
	Namespace bool
	// Bar draws the percentage as a bar.
	Bar bool
	// Width cuts lines to that many characters; 0 for no limit.
	Width int
}

// Table writes one line per host: phase, step, percent, time in phase, reason.
func Table(w io.Writer, hosts []view.View, now time.Time, o TableOptions) error {
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	head := []string{"HOST", "PHASE", "STEP", "PROGRESS", "IN PHASE", "REASON"}
	if o.Namespace {
		head = append([]string{"NAMESPACE"}, head...)
	}
	fmt.Fprintln(tw, strings.Join(head, "\t"))
	for _, v := range hosts {
		fmt.Fprintln(tw, strings.Join(row(v, now, o), "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, cut(strings.TrimRight(line, " \n"), o.Width)); err != nil {
			return err
		}
	}
	return nil
}

func row(v view.View, now time.Time, o TableOptions) []string {
	cells := []string{v.Name, v.Phase, v.Step, progress(v, o.Bar), Elapsed(v.InPhase(now)), explain(v)}
	if o.Namespace {
		cells = append([]string{v.Namespace}, cells...)
	}
	for i, c := range cells {
		if c == "" {
			cells[i] = "-"
		}
	}
	return cells
}

func progress(v view.View, bar bool) string {
	switch {
	case v.Percent == 0:
		return ""
	case !bar:
		return fmt.Sprintf("%d%%", v.Percent)
	}
	full := v.Percent * barCells / 100
	return strings.Repeat("█", full) + strings.Repeat("░", barCells-full) + fmt.Sprintf(" %3d%%", v.Percent)
}

// explain is why the host is where it is: its error, or what it waits for.
func explain(v view.View) string {
	switch {
	case v.Reason != "":
		return v.Reason
	case v.WaitingFor != "":
		return "waiting for " + v.WaitingFor
	default:
		return v.Text
	}
}

// Elapsed prints a duration in at most two units, such as 3m12s; empty for zero.
func Elapsed(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

func cut(line string, width int) string {
	runes := []rune(line)
	if width < 1 || len(runes) <= width {
		return line
	}
	return string(runes[:width-1]) + "…"
}
