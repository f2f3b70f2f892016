package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// AddEvent appends an event to the timeline and returns its place.
func (t *Tx) AddEvent(e wire.Event) (int64, error) {
	var seq int64
	if err := t.scanRow("number an event", `SELECT COALESCE(MAX(seq), 0) + 1 FROM events`, nil, &seq); err != nil {
		return 0, err
	}
	doc, err := json.Marshal(e)
	if err != nil {
		return 0, err
	}
	return seq, t.exec("write event", `INSERT INTO events (seq, cluster_id, host_id, infra_env_id, severity, category, message, at, doc)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, seq, text(e.ClusterID), text(e.HostID), text(e.InfraEnvID),
		e.Severity, e.Category, e.Message, unix(e.EventTime.Time), string(doc))
}

// EventFilter selects events; empty members select all.
type EventFilter struct {
	ClusterID, InfraEnvID string
	HostIDs               []string
	// ClusterLevel keeps only events that are about no single host.
	ClusterLevel           bool
	Severities, Categories []string
	// Message keeps events whose message contains the text, in any case.
	Message string
	// Descending puts the newest first.
	Descending bool
	// Limit and Offset page through the result; zero is no limit.
	Limit, Offset int
}

// Events returns the selected events and how many there are of each severity
// before paging.
func (t *Tx) Events(f EventFilter) ([]Event, map[string]int, error) {
	where, args := f.where()
	counts := map[string]int{}
	err := t.scanAll("count events", `SELECT severity, COUNT(*) FROM events `+where+` GROUP BY severity`, args, func(scan func(...any) error) error {
		var severity string
		var n int
		err := scan(&severity, &n)
		counts[severity] = n
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	order := "ASC"
	if f.Descending {
		order = "DESC"
	}
	query := `SELECT seq, doc FROM events ` + where + ` ORDER BY seq ` + order
	if f.Limit > 0 || f.Offset > 0 {
		limit := f.Limit
		if limit == 0 {
			limit = 1 << 31
		}
		args = append(args, limit, f.Offset)
		query += fmt.Sprintf(` LIMIT $%d OFFSET $%d`, len(args)-1, len(args))
	}
	var out []Event
	err = t.scanAll("list events", query, args, func(scan func(...any) error) error {
		var doc []byte
		var e Event
		if err := scan(&e.Seq, &doc); err != nil {
			return err
		}
		err := json.Unmarshal(doc, &e.Event)
		out = append(out, e)
		return err
	})
	return out, counts, err
}

// DeleteEventsBefore removes the events that happened before then.
func (t *Tx) DeleteEventsBefore(then time.Time) error {
	return t.exec("delete old events", `DELETE FROM events WHERE at < $1`, unix(then))
}

// where writes the filter as SQL.
func (f EventFilter) where() (string, []any) {
	var where conditions
	where.in("cluster_id", f.ClusterID)
	where.in("infra_env_id", f.InfraEnvID)
	where.in("host_id", f.HostIDs...)
	where.in("severity", f.Severities...)
	where.in("category", f.Categories...)
	if f.ClusterLevel {
		where.add("host_id = ", "")
	}
	if f.Message != "" {
		// POSITION of PostgreSQL and INSTR of SQLite differ; LIKE is common to both.
		literal := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(f.Message))
		where.add(`LOWER(message) LIKE `, "%"+literal+"%")
		where.terms[len(where.terms)-1] += ` ESCAPE '\'`
	}
	return where.String(), where.args
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
