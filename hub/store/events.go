package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// EventFilter selects events; empty members select all.
type EventFilter struct {
	ClusterID, InfraEnvID string
	// HostIDs keeps events of these hosts, DeletedHosts those of hosts that are not there any more,
	// and ClusterLevel those that are about no single host: each adds to what the others keep.
	HostIDs                    []string
	DeletedHosts, ClusterLevel bool
	Severities, Categories     []string
	// Message keeps events whose message contains the text, in any case.
	Message string
	// Descending puts the newest first.
	Descending bool
	// Limit and Offset page through the result; zero is no limit.
	Limit, Offset int
	// Beyond keeps only events behind the one with this number, in the order that is asked
	// for; zero keeps all. The page behind another one is found by it at once, and events
	// that have come since do not move it.
	Beyond int64
}

// Events returns the selected events and how many there are of each severity
// before paging. A page behind another one is not counted again.
func (r *Reader) Events(f EventFilter) ([]Event, map[string]int, error) {
	where := f.where()
	counts, err := r.countEvents(f, where)
	if err != nil {
		return nil, nil, err
	}
	order := "ASC"
	if f.Descending {
		order = "DESC"
	}
	query := `SELECT seq, doc FROM events ` + where.String() + ` ORDER BY seq ` + order
	if f.Limit > 0 || f.Offset > 0 {
		limit := f.Limit
		if limit == 0 {
			limit = 1 << 31
		}
		query += where.limit(limit) + " OFFSET " + where.mark(f.Offset)
	}
	events, err := all(r, "list events", query, where.args, scanEvent)
	return events, counts, err
}

func (r *Reader) countEvents(f EventFilter, where *conditions) (map[string]int, error) {
	if f.Beyond != 0 {
		return nil, nil
	}
	counts := map[string]int{}
	query := `SELECT severity, COUNT(*) FROM events ` + where.String() + ` GROUP BY severity`
	err := r.scanAll("count events", query, where.args, func(scan func(...any) error) error {
		var severity string
		var n int
		err := scan(&severity, &n)
		counts[severity] = n
		return err
	})
	return counts, err
}

func scanEvent(scan func(...any) error) (Event, error) {
	var doc []byte
	var e Event
	if err := scan(&e.Seq, &doc); err != nil {
		return e, err
	}
	return e, json.Unmarshal(doc, &e.Event)
}

// where writes the filter as SQL.
func (f EventFilter) where() *conditions {
	where := &conditions{}
	where.in("cluster_id", f.ClusterID)
	where.in("infra_env_id", f.InfraEnvID)
	where.or(func(one *conditions) {
		one.in("host_id", f.HostIDs...)
		if f.DeletedHosts {
			one.add("host_id <> %s AND NOT EXISTS (SELECT 1 FROM hosts WHERE hosts.infra_env_id = events.infra_env_id AND hosts.id = events.host_id)", "")
		}
		if f.ClusterLevel {
			one.add("host_id = %s", "")
		}
	})
	where.in("severity", f.Severities...)
	where.in("category", f.Categories...)
	if f.Beyond != 0 {
		after := "seq > %s"
		if f.Descending {
			after = "seq < %s"
		}
		where.add(after, f.Beyond)
	}
	if f.Message != "" {
		// POSITION of PostgreSQL and INSTR of SQLite differ; LIKE is common to both.
		literal := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(searchable(f.Message))
		where.add(`message LIKE %s ESCAPE '\'`, "%"+literal+"%")
	}
	return where
}

// searchable is a message as it is looked for: without upper case in any script,
// which databases do not agree about.
func searchable(message string) string { return clean(strings.ToLower(message)) }

// addEvent appends an event. The database numbers it.
func (t *tx) addEvent(e wire.Event) error {
	doc, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return t.exec("write event", `INSERT INTO events (cluster_id, host_id, infra_env_id, severity, category, message, at, doc)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, text(e.ClusterID), text(e.HostID), text(e.InfraEnvID),
		clean(e.Severity), clean(e.Category), searchable(e.Message), unix(e.EventTime.Time), string(doc))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return clean(*s)
}
