package store

import (
	"slices"
	"strings"
	"time"
)

// Deadline is when time alone may change a host or a cluster, as its record says.
type Deadline struct {
	// Of is the host or the cluster, without its version.
	Of Ref
	// Due is the first moment at which a limit is over; zero for none.
	Due time.Time
	// Patience is how long the host may be silent; zero where nobody waits for its polls.
	Patience time.Duration
	// Heard is the host's last stored sign of life.
	Heard time.Time
}

const (
	hostDeadlines = `SELECT h.infra_env_id, h.id, h.due_at, h.patience, COALESCE(c.at, 0) FROM hosts h
		LEFT JOIN host_check_ins c ON c.infra_env_id = h.infra_env_id AND c.host_id = h.id WHERE `
	clusterDeadlines = `SELECT '', id, due_at, 0, 0 FROM clusters WHERE `
)

// Deadlines returns those of all hosts and clusters that have one. No record is decoded.
func (r *Reader) Deadlines() ([]Deadline, error) {
	hosts, err := r.deadlines(KindHost, hostDeadlines+`h.due_at <> 0 OR h.patience <> 0`, nil)
	if err != nil {
		return nil, err
	}
	clusters, err := r.deadlines(KindCluster, clusterDeadlines+`due_at <> 0`, nil)
	return append(hosts, clusters...), err
}

// deadlinesPage is of how many records the deadlines are asked for at once.
const deadlinesPage = 500

// DeadlinesOf returns those of the given hosts and clusters, also empty ones; what
// is not there is left out.
func (r *Reader) DeadlinesOf(refs []Ref) (found []Deadline, err error) {
	for page := range slices.Chunk(refs, deadlinesPage) {
		var hosts, clusters conditions
		var keys, ids []string
		for _, ref := range page {
			switch ref.Kind {
			case KindHost:
				keys = append(keys, "("+hosts.mark(ref.InfraEnvID)+", "+hosts.mark(ref.ID)+")")
			case KindCluster:
				ids = append(ids, clusters.mark(ref.ID))
			case KindInfraEnv, KindJob, KindLease: // have none
			}
		}
		if len(keys) > 0 {
			more, err := r.deadlines(KindHost, hostDeadlines+`(h.infra_env_id, h.id) IN (VALUES `+strings.Join(keys, ", ")+`)`, hosts.args)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
		if len(ids) > 0 {
			more, err := r.deadlines(KindCluster, clusterDeadlines+`id IN (`+strings.Join(ids, ", ")+`)`, clusters.args)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	return found, nil
}

func (r *Reader) deadlines(kind Kind, query string, args []any) ([]Deadline, error) {
	return all(r, "list deadlines", query, args, func(scan func(...any) error) (Deadline, error) {
		d := Deadline{Of: Ref{Kind: kind}}
		var due, patience, heard int64
		err := scan(&d.Of.InfraEnvID, &d.Of.ID, &due, &patience, &heard)
		d.Due, d.Patience, d.Heard = fromUnix(due), time.Duration(patience)*time.Microsecond, fromUnix(heard)
		return d, err
	})
}
