package store

import "time"

// Mark is as much of a host as tells whether it is known already.
type Mark struct {
	Host    HostKey
	Version int64
	// At is the host's last sign of life that is stored, Clock its clock then in Unix
	// seconds; zero for none.
	At    time.Time
	Clock int64
}

// Marks returns those of a cluster's hosts, ordered by infra-env and id.
func (r *Reader) Marks(clusterID string) ([]Mark, error) {
	query := `SELECT h.infra_env_id, h.id, h.version, c.at, c.clock FROM hosts h
		LEFT JOIN host_check_ins c ON c.infra_env_id = h.infra_env_id AND c.host_id = h.id
		WHERE h.cluster_id = $1 ORDER BY h.infra_env_id, h.id`
	return all(r, "list hosts of a cluster", query, []any{clusterID}, func(scan func(...any) error) (Mark, error) {
		var m Mark
		var at, clock *int64
		err := scan(&m.Host.InfraEnvID, &m.Host.HostID, &m.Version, &at, &clock)
		if at != nil && clock != nil {
			m.At, m.Clock = fromUnix(*at), *clock
		}
		return m, err
	})
}
