package health

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/health/rules"
)

// listRequests bounds what List asks: a machine with hundreds of drives and modules.
const listRequests = 400

// List reads everything for a person who looks, whatever the BMC calls well.
func List(ctx context.Context, c Getter, report *v1alpha1.BMCReport) (rules.Reading, error) {
	return Read(ctx, c, Options{Report: report, Requests: listRequests, Everything: true})
}

// PartRow is a part as it is listed.
type PartRow struct {
	Domain rules.Domain         `json:"domain"`
	Kind   rules.Kind           `json:"kind"`
	Name   string               `json:"name"`
	State  v1alpha1.HealthState `json:"state"`
	// Reading is a sensor's value with its unit.
	Reading string `json:"reading,omitempty"`
	// Shows is why it is not OK.
	Shows string `json:"shows,omitempty"`
}

// Parts are the parts of a reading: domain by domain, the worst first.
func Parts(r rules.Reading) []PartRow {
	var rows []PartRow
	for _, domain := range rules.Domains {
		from := len(rows)
		for _, p := range r.Parts {
			v, counts := rules.Assess(p)
			if p.Domain != domain || !counts {
				continue
			}
			row := PartRow{Domain: domain, Kind: p.Kind, Name: p.Name, State: v.State, Shows: v.Shows}
			if p.Value != nil {
				row.Reading = strings.TrimSpace(strconv.FormatFloat(*p.Value, 'g', 6, 64) + " " + p.Unit)
			}
			rows = append(rows, row)
		}
		order := []v1alpha1.HealthState{v1alpha1.HealthCritical, v1alpha1.HealthWarning, v1alpha1.HealthOK}
		slices.SortStableFunc(rows[from:], func(a, b PartRow) int { return slices.Index(order, a.State) - slices.Index(order, b.State) })
	}
	return rows
}

// EntryRow is a log entry as it is listed.
type EntryRow struct {
	ID        string               `json:"id"`
	Created   time.Time            `json:"created,omitzero"`
	Severity  v1alpha1.HealthState `json:"severity"`
	MessageID string               `json:"messageID,omitempty"`
	Message   string               `json:"message"`
	Resolved  bool                 `json:"resolved,omitempty"`
}

// Entries are the last entries of a reading's logs, oldest first, at most limit of
// them (0: all).
func Entries(r rules.Reading, limit int) []EntryRow {
	var rows []EntryRow
	for _, l := range r.Logs {
		for _, e := range l.Entries {
			rows = append(rows, EntryRow{ID: e.ID, Created: e.Created, Severity: e.Severity, MessageID: e.MessageID, Message: e.Message, Resolved: e.Resolved})
		}
	}
	if limit > 0 && len(rows) > limit {
		rows = rows[len(rows)-limit:]
	}
	return rows
}

// WriteParts prints parts as a table.
func WriteParts(w io.Writer, rows []PartRow) error {
	return table(w, "DOMAIN\tPART\tSTATE\tREADING\tSHOWS", rows, func(r PartRow) []string {
		return []string{string(r.Domain), r.Name, string(r.State), r.Reading, r.Shows}
	})
}

// WriteEntries prints log entries as a table.
func WriteEntries(w io.Writer, rows []EntryRow) error {
	return table(w, "CREATED\tSEVERITY\tID\tMESSAGE", rows, func(r EntryRow) []string {
		created := ""
		if !r.Created.IsZero() {
			created = r.Created.UTC().Format(time.DateTime)
		}
		text := r.Message
		if r.Resolved {
			text += " (resolved)"
		}
		return []string{created, string(r.Severity), r.ID, text}
	})
}

// table prints rows in columns; an empty cell is a dash.
func table[T any](w io.Writer, head string, rows []T, cells func(T) []string) error {
	out := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(out, head)
	for _, row := range rows {
		line := cells(row)
		for i, cell := range line {
			if cell == "" {
				line[i] = "-"
			}
		}
		fmt.Fprintln(out, strings.Join(line, "\t"))
	}
	return out.Flush()
}
