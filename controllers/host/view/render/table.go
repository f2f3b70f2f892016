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
	"unicode"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// barCells is the width of the progress bar.
const barCells = 10

// TableOptions choose what a table shows. The zero value is a plain table.
type TableOptions struct {
	// Namespace adds a column for it.
	Namespace bool
	// Wide adds columns: power, consumer, method and the next step.
	Wide bool
	// Bar draws the percentage as a bar.
	Bar bool
	// Width cuts lines to that many characters; 0 for no limit.
	Width int
}

// Table writes one line per host: phase, step, percent, time in phase, reason.
func Table(w io.Writer, hosts []view.View, now time.Time, o TableOptions) error {
	head, rows := Head(o), make([][]string, 0, len(hosts))
	if o.Namespace {
		head = append([]string{"NAMESPACE"}, head...)
	}
	for _, v := range hosts {
		cells := Row(v, now, o)
		if o.Namespace {
			cells = append([]string{v.Namespace}, cells...)
		}
		rows = append(rows, cells)
	}
	return Lines(w, head, rows, o.Width)
}

// Head are the columns of a host's line.
func Head(o TableOptions) []string {
	head := []string{"HOST", "PHASE", "STEP", "PROGRESS", "IN PHASE", "REASON"}
	if o.Wide {
		head = append(head, "POWER", "CONSUMER", "METHOD", "NEXT")
	}
	return head
}

// Row are the cells of a host's line.
func Row(v view.View, now time.Time, o TableOptions) []string {
	cells := []string{v.Name, v.Phase, v.Step, progress(v, o.Bar), Elapsed(v.InPhase(now)), explain(v)}
	if o.Wide {
		cells = append(cells, Power(v), v.Consumer, v.Method, v.NextAction)
	}
	return Cells(cells)
}

// Cells puts a dash in the place of empty ones.
func Cells(cells []string) []string {
	for i, c := range cells {
		if c == "" {
			cells[i] = "-"
		}
	}
	return cells
}

// Lines writes rows below their heads in columns; no head leaves it out. Lines are cut to width, 0 for no limit.
// What hosts have said may be in the cells: characters that steer a terminal are not printed.
func Lines(w io.Writer, head []string, rows [][]string, width int) error {
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	if head != nil {
		fmt.Fprintln(tw, strings.Join(head, "\t"))
	}
	for _, cells := range rows {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(tw, "\t")
			}
			fmt.Fprint(tw, printable(oneLine(cell)))
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, cut(strings.TrimRight(line, " \n"), width)); err != nil {
			return err
		}
	}
	return nil
}

// oneLine has a blank in the place of new lines and tabs.
func oneLine(cell string) string {
	return strings.Join(strings.FieldsFunc(cell, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }), " ")
}

// Power is on or off, and what is wanted where that differs.
func Power(v view.View) string {
	is, wanted := "off", "off"
	if v.PoweredOn {
		is = "on"
	}
	if v.Online {
		wanted = "on"
	}
	if is == wanted {
		return is
	}
	return is + ", wanted " + wanted
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
