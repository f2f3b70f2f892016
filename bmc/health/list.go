package health

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/health/rules"
)

// listRequests bounds what List asks. It is more than the machines that are known have
// parts: what ends it is the patience of whoever looks.
const listRequests = 8000

// List reads everything for a person who looks, whatever the BMC calls well.
func List(ctx context.Context, c Getter, report *v1alpha1.BMCReport) (rules.Reading, error) {
	return Read(ctx, c, Options{Report: report, Requests: listRequests, Everything: true})
}

// Logs reads the logs for a person who looks.
func Logs(ctx context.Context, c Getter, report *v1alpha1.BMCReport) (rules.Reading, error) {
	return Read(ctx, c, Options{Report: report, Requests: listRequests, LogsAlone: true})
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

// worstFirst is the order of states in a list.
var worstFirst = []v1alpha1.HealthState{v1alpha1.HealthCritical, v1alpha1.HealthWarning, v1alpha1.HealthUnknown, v1alpha1.HealthOK}

// Parts are the parts of a reading: domain by domain, the worst first. What only sums
// up others is left out, unless none of them shows the same; it is not OK where nothing
// was read of a group of its domain.
func Parts(r rules.Reading) []PartRow {
	var rows []PartRow
	for _, domain := range rules.Domains {
		var own []PartRow
		for _, p := range r.Parts {
			v, counts := rules.Assess(p)
			if p.Domain != domain || !counts {
				continue
			}
			one := PartRow{Domain: domain, Kind: p.Kind, Name: p.Name, State: v.State, Reading: rules.Shown(p), Shows: v.Shows}
			if why := r.Unread[domain]; why != "" && p.Kind == rules.Group && v.State == v1alpha1.HealthOK {
				one.State, one.Shows = v1alpha1.HealthUnknown, clip("parts that it sums up could not be read: "+why)
			}
			own = append(own, one)
		}
		all := slices.Clone(own)
		own = slices.DeleteFunc(own, func(sum PartRow) bool {
			return sum.Kind == rules.Group && sum.State != v1alpha1.HealthUnknown && slices.ContainsFunc(all, func(r PartRow) bool {
				return r.Kind != rules.Group && slices.Index(worstFirst, r.State) <= slices.Index(worstFirst, sum.State)
			})
		})
		slices.SortStableFunc(own, func(a, b PartRow) int { return slices.Index(worstFirst, a.State) - slices.Index(worstFirst, b.State) })
		rows = append(rows, own...)
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
