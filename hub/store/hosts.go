package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/wire"
)

const hostColumns = `SELECT h.version, h.doc, h.due_at, h.patience, c.at, c.clock FROM hosts h
	LEFT JOIN host_check_ins c ON c.infra_env_id = h.infra_env_id AND c.host_id = h.id `

// Host returns the record with all reports, or [ErrNotFound].
func (r *Reader) Host(key HostKey) (*Host, error) {
	h, err := one(r, "host "+key.HostID, hostColumns+`WHERE h.infra_env_id = $1 AND h.id = $2`, []any{key.InfraEnvID, key.HostID}, r.scanHost)
	if err != nil {
		return nil, err
	}
	return h, r.addReports([]*Host{h}, "")
}

// HostFilter selects hosts; empty members select all.
type HostFilter struct {
	InfraEnvID, ClusterID string
	// HostID keeps only the host of this id, one in each infra-env.
	HostID string
	// MAC keeps only hosts that say in their inventory that they have the address, lower case.
	MAC string
	// Machine keeps only the host that registered from the image of this machine.
	Machine string
	// Statuses keeps only hosts in one of them.
	Statuses []string
	// After keeps only hosts behind it; Limit bounds the number, zero does not.
	After HostKey
	Limit int
	// Bare leaves the reports out. A bare host is not for writing.
	Bare bool
	// Unlinked leaves the reports on connectivity unread, see [Reader.ReadConnectivity]: each of them names all
	// other hosts of its cluster.
	Unlinked bool
}

// Hosts returns the selected records, ordered by infra-env and id.
func (r *Reader) Hosts(f HostFilter) ([]*Host, error) {
	var where conditions
	where.in("h.infra_env_id", f.InfraEnvID)
	where.in("h.cluster_id", f.ClusterID)
	where.in("h.id", f.HostID)
	where.in("h.status", f.Statuses...)
	where.in("h.machine", f.Machine)
	if f.MAC != "" {
		where.add(`EXISTS (SELECT 1 FROM host_macs m WHERE m.infra_env_id = h.infra_env_id AND m.host_id = h.id AND m.mac = %s)`, f.MAC)
	}
	if f.After != (HostKey{}) {
		where.terms = append(where.terms, "(h.infra_env_id, h.id) > ("+where.mark(f.After.InfraEnvID)+", "+where.mark(f.After.HostID)+")")
	}
	query := hostColumns + where.String() + ` ORDER BY h.infra_env_id, h.id` + where.limit(f.Limit)
	hosts, err := all(r, "list hosts", query, where.args, r.scanHost)
	if err != nil || f.Bare {
		return hosts, err
	}
	left := ""
	if f.Unlinked {
		left = kindConnectivity
		for _, h := range hosts {
			h.API.Connectivity, h.loaded[kindConnectivity] = unread, unread
		}
	}
	for page := range slices.Chunk(hosts, reportsPage) {
		if err := r.addReports(page, left); err != nil {
			return nil, err
		}
	}
	return hosts, nil
}

// CountHosts returns how many hosts the infra-env has, and most where it has more.
func (r *Reader) CountHosts(infraEnvID string, most int) (found int, err error) {
	err = r.scanRow("count hosts", `SELECT count(*) FROM (SELECT 1 FROM hosts WHERE infra_env_id = $1 LIMIT $2) AS found`, []any{infraEnvID, most}, &found)
	return found, err
}

// reportsPage is of how many hosts the reports are asked for at once.
const reportsPage = 100

// addReports reads the reports of up to a page of hosts, but for those of one kind.
func (r *Reader) addReports(hosts []*Host, but string) error {
	var where conditions
	var keys []string
	byKey := map[HostKey]*Host{}
	for _, h := range hosts {
		key := h.Key()
		byKey[key] = h
		keys = append(keys, "("+where.mark(key.InfraEnvID)+", "+where.mark(key.HostID)+")")
	}
	query := `SELECT infra_env_id, host_id, kind, doc FROM host_reports WHERE kind <> ` + where.mark(but) + ` AND (infra_env_id, host_id) IN (VALUES ` + strings.Join(keys, ", ") + `)`
	return r.scanAll("read reports", query, where.args, func(scan func(...any) error) error {
		var key HostKey
		var kind, text string
		if err := scan(&key.InfraEnvID, &key.HostID, &kind, &text); err != nil {
			return err
		}
		h := byKey[key]
		h.loaded[kind] = text
		text, err := h.openOverrides(r.keys, kind, text)
		putReport(&h.API, kind, text)
		return err
	})
}

func (r *Reader) scanHost(scan func(...any) error) (*Host, error) {
	var doc []byte
	var due, patience int64
	var at, clock *int64
	h := &Host{loaded: map[string]string{}}
	if err := scan(&h.Version, &doc, &due, &patience, &at, &clock); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(doc, h); err != nil {
		return nil, err
	}
	if at != nil && clock != nil {
		h.API.CheckedInAt, h.API.Timestamp = wire.At(fromUnix(*at)), cmp.Or(*clock, h.API.Timestamp)
	}
	h.Due, h.Patience = fromUnix(due), time.Duration(patience)*time.Microsecond
	h.loadedMACs, h.loadedCluster = slices.Clone(h.MACs), h.ClusterID()
	return h, h.Kept.open(r.keys, h.members())
}

// putHost writes the record with its reports and addresses.
func putHost(h *Host, keys seal.Keys) (operation, error) {
	bare := *h
	if err := bare.Kept.shut(keys, bare.members()); err != nil {
		return operation{}, err
	}
	texts := takeReports(&bare.API)
	at, clock := h.API.CheckedInAt, h.API.Timestamp
	bare.API.CheckedInAt, bare.API.Timestamp = wire.DateTime{}, 0 // these have a table of their own
	doc, err := json.Marshal(&bare)
	if err != nil {
		return operation{}, err
	}
	ref, next, key := h.Ref(), nextVersion(h.Version), h.Key()
	changed := map[string]string{}
	for kind, text := range texts {
		if text == unread {
			continue // the store has it
		}
		if texts[kind], err = h.shutOverrides(keys, kind, clean(text)); err != nil {
			return operation{}, err
		}
		if texts[kind] != h.loaded[kind] {
			changed[kind] = texts[kind]
		}
	}
	return operation{ref: ref, stored: func() { h.stored(next, texts, bare.Kept) }, do: func(t *tx) error {
		if err := t.writeHost(&bare, ref, next, string(doc)); err != nil {
			return err
		}
		if err := t.writeReports(key, changed); err != nil {
			return err
		}
		if err := t.writeMACs(key, h.loadedMACs, bare.MACs); err != nil {
			return err
		}
		return t.exec("note check-in", `INSERT INTO host_check_ins (infra_env_id, host_id, at, clock) VALUES ($1, $2, $3, $4)
			ON CONFLICT (infra_env_id, host_id) DO UPDATE SET at = excluded.at, clock = excluded.clock WHERE excluded.at > host_check_ins.at`,
			key.InfraEnvID, key.HostID, unix(at.Time), clock)
	}}, nil
}

// WasConnectivity returns the connectivity report that the store has for the host.
func (h *Host) WasConnectivity() string { return h.loaded[kindConnectivity] }

// stored notes what the store has of the host from now on.
func (h *Host) stored(version int64, texts map[string]string, kept Kept) {
	h.Kept = kept
	h.Version, h.loaded, h.loadedMACs, h.loadedCluster = version, texts, slices.Clone(h.MACs), h.ClusterID()
}

func (t *tx) writeHost(h *Host, ref Ref, next int64, doc string) error {
	if ref.Version == 0 {
		return t.change("make host", `INSERT INTO hosts (infra_env_id, id, version, cluster_id, status, doc, due_at, patience, machine)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
			ref.InfraEnvID, ref.ID, next, h.ClusterID(), h.API.Status, doc, unix(h.Due), h.Patience.Microseconds(), h.Bearer.Machine)
	}
	return t.change("write host", `UPDATE hosts SET version = $1, cluster_id = $2, status = $3, doc = $4, due_at = $5, patience = $6, machine = $7
		WHERE infra_env_id = $8 AND id = $9 AND version = $10`,
		next, h.ClusterID(), h.API.Status, doc, unix(h.Due), h.Patience.Microseconds(), h.Bearer.Machine, ref.InfraEnvID, ref.ID, ref.Version)
}

func (t *tx) writeReports(key HostKey, texts map[string]string) error {
	for kind, text := range texts {
		err := t.exec("write report", `INSERT INTO host_reports (infra_env_id, host_id, kind, doc) VALUES ($1, $2, $3, $4)
			ON CONFLICT (infra_env_id, host_id, kind) DO UPDATE SET doc = excluded.doc`, key.InfraEnvID, key.HostID, kind, text)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) writeMACs(key HostKey, old, macs []string) error {
	if slices.Equal(old, macs) {
		return nil
	}
	if err := t.exec("remove MACs", `DELETE FROM host_macs WHERE infra_env_id = $1 AND host_id = $2`, key.InfraEnvID, key.HostID); err != nil {
		return err
	}
	for _, mac := range slices.Compact(slices.Sorted(slices.Values(macs))) {
		if err := t.exec("write MAC", `INSERT INTO host_macs (infra_env_id, host_id, mac) VALUES ($1, $2, $3)`, key.InfraEnvID, key.HostID, clean(mac)); err != nil {
			return err
		}
	}
	return nil
}

// removeHost removes the record with everything that belongs to it but its events.
func (t *tx) removeHost(r Ref) error {
	err := t.change("remove host", `DELETE FROM hosts WHERE infra_env_id = $1 AND id = $2 AND version = $3`, r.InfraEnvID, r.ID, r.Version)
	if err != nil {
		return err
	}
	for _, query := range []string{
		`DELETE FROM host_reports WHERE infra_env_id = $1 AND host_id = $2`,
		`DELETE FROM host_macs WHERE infra_env_id = $1 AND host_id = $2`,
		`DELETE FROM host_check_ins WHERE infra_env_id = $1 AND host_id = $2`,
	} {
		if err := t.exec("remove host", query, r.InfraEnvID, r.ID); err != nil {
			return err
		}
	}
	return nil
}
