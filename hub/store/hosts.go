package store

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

const hostColumns = `SELECT doc, checked_in_at FROM hosts `

// Host returns the record with all reports, or [ErrNotFound].
func (t *Tx) Host(key HostKey) (*Host, error) {
	h, err := t.BareHost(key)
	if err != nil {
		return nil, err
	}
	err = t.scanAll("read reports", `SELECT kind, doc FROM host_reports WHERE infra_env_id = $1 AND host_id = $2`,
		[]any{key.InfraEnvID, key.HostID}, func(scan func(...any) error) error {
			var kind, text string
			if err := scan(&kind, &text); err != nil {
				return err
			}
			putReport(&h.API, kind, text)
			h.loaded[kind] = text
			return nil
		})
	return h, err
}

// BareHost returns the record without its reports, or [ErrNotFound]. Writing it
// back leaves the stored reports alone.
func (t *Tx) BareHost(key HostKey) (*Host, error) {
	var doc []byte
	var at int64
	err := t.scanRow("host "+key.HostID, hostColumns+`WHERE infra_env_id = $1 AND id = $2`, []any{key.InfraEnvID, key.HostID}, &doc, &at)
	if err != nil {
		return nil, err
	}
	return decodeHost(doc, at)
}

// HostFilter selects hosts; empty members select all.
type HostFilter struct {
	InfraEnvID, ClusterID string
	// Statuses keeps only hosts in one of them.
	Statuses []string
	// SilentSince keeps only hosts that have not polled since then.
	SilentSince time.Time
	// Bare leaves the reports out.
	Bare bool
}

// Hosts returns the selected records, ordered by infra-env and id.
func (t *Tx) Hosts(f HostFilter) ([]*Host, error) {
	var where conditions
	where.in("infra_env_id", f.InfraEnvID)
	where.in("cluster_id", f.ClusterID)
	where.in("status", f.Statuses...)
	if !f.SilentSince.IsZero() {
		where.add("checked_in_at <= ", unix(f.SilentSince))
	}
	out, err := t.hosts("list hosts", hostColumns+where.String()+` ORDER BY infra_env_id, id`, where.args)
	if err != nil || f.Bare {
		return out, err
	}
	for i, h := range out {
		if out[i], err = t.Host(h.Key()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t *Tx) hosts(what, query string, args []any) ([]*Host, error) {
	var out []*Host
	err := t.scanAll(what, query, args, func(scan func(...any) error) error {
		var doc []byte
		var at int64
		if err := scan(&doc, &at); err != nil {
			return err
		}
		h, err := decodeHost(doc, at)
		out = append(out, h)
		return err
	})
	return out, err
}

// HostsByMAC returns the keys of the infra-env's hosts that say in their
// inventory that they have that address, lower case, by id.
func (t *Tx) HostsByMAC(infraEnvID, mac string) ([]HostKey, error) {
	var keys []HostKey
	err := t.scanAll("find host by MAC", `SELECT host_id FROM host_macs WHERE mac = $1 AND infra_env_id = $2 ORDER BY host_id`,
		[]any{mac, infraEnvID}, func(scan func(...any) error) error {
			key := HostKey{InfraEnvID: infraEnvID}
			if err := scan(&key.HostID); err != nil {
				return err
			}
			keys = append(keys, key)
			return nil
		})
	return keys, err
}

// PutHost makes or replaces the record with its reports and addresses.
func (t *Tx) PutHost(h *Host) error {
	bare := *h
	texts := takeReports(&bare.API)
	doc, err := json.Marshal(&bare)
	if err != nil {
		return err
	}
	key := h.Key()
	err = t.exec("write host", `INSERT INTO hosts (infra_env_id, id, cluster_id, status, checked_in_at, doc) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (infra_env_id, id) DO UPDATE SET cluster_id = excluded.cluster_id, status = excluded.status,
			checked_in_at = excluded.checked_in_at, doc = excluded.doc`,
		key.InfraEnvID, key.HostID, h.ClusterID(), h.API.Status, unix(h.API.CheckedInAt.Time), string(doc))
	if err != nil {
		return err
	}
	for kind, text := range texts {
		if text == h.loaded[kind] {
			continue
		}
		err := t.exec("write report", `INSERT INTO host_reports (infra_env_id, host_id, kind, doc) VALUES ($1, $2, $3, $4)
			ON CONFLICT (infra_env_id, host_id, kind) DO UPDATE SET doc = excluded.doc`, key.InfraEnvID, key.HostID, kind, text)
		if err != nil {
			return err
		}
	}
	return t.putMACs(h)
}

func (t *Tx) putMACs(h *Host) error {
	if slices.Equal(h.loadedMACs, h.MACs) {
		return nil
	}
	key := h.Key()
	if err := t.exec("delete MACs", `DELETE FROM host_macs WHERE infra_env_id = $1 AND host_id = $2`, key.InfraEnvID, key.HostID); err != nil {
		return err
	}
	for _, mac := range slices.Compact(slices.Sorted(slices.Values(h.MACs))) {
		if err := t.exec("write MAC", `INSERT INTO host_macs (infra_env_id, host_id, mac) VALUES ($1, $2, $3)`, key.InfraEnvID, key.HostID, mac); err != nil {
			return err
		}
	}
	return nil
}

// DeleteHost removes the record with everything that belongs to it but its
// events; a missing one is no error.
func (t *Tx) DeleteHost(key HostKey) error {
	for _, query := range []string{
		`DELETE FROM host_reports WHERE infra_env_id = $1 AND host_id = $2`,
		`DELETE FROM host_macs WHERE infra_env_id = $1 AND host_id = $2`,
		`DELETE FROM hosts WHERE infra_env_id = $1 AND id = $2`,
	} {
		if err := t.exec("delete host", query, key.InfraEnvID, key.HostID); err != nil {
			return err
		}
	}
	return nil
}

func decodeHost(doc []byte, checkedIn int64) (*Host, error) {
	h := &Host{loaded: map[string]string{}}
	if err := json.Unmarshal(doc, h); err != nil {
		return nil, err
	}
	h.API.CheckedInAt = wire.At(fromUnix(checkedIn))
	h.loadedMACs = slices.Clone(h.MACs)
	return h, nil
}

// unix and fromUnix keep times as microseconds; zero stays zero.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromUnix(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
