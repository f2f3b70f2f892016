package store

import (
	"encoding/json"

	"github.com/ironflow/ironflow/hub/seal"
)

// Cluster returns the record, or [ErrNotFound].
func (r *Reader) Cluster(id string) (*Cluster, error) {
	return one(r, "cluster "+id, `SELECT version, due_at, doc FROM clusters WHERE id = $1`, []any{id}, r.scanCluster)
}

// ClusterFilter selects clusters; empty members select all.
type ClusterFilter struct {
	// Statuses keeps only clusters in one of them.
	Statuses []string
	// After keeps only ids behind it; Limit bounds the number, zero does not.
	After string
	Limit int
}

// Clusters returns the selected records by id.
func (r *Reader) Clusters(f ClusterFilter) ([]*Cluster, error) {
	var where conditions
	where.in("status", f.Statuses...)
	where.after("id", f.After)
	query := `SELECT version, due_at, doc FROM clusters ` + where.String() + ` ORDER BY id` + where.limit(f.Limit)
	return all(r, "list clusters", query, where.args, r.scanCluster)
}

func (r *Reader) scanCluster(scan func(...any) error) (*Cluster, error) {
	var doc []byte
	var due int64
	c := &Cluster{}
	if err := scan(&c.Version, &due, &doc); err != nil {
		return nil, err
	}
	c.Due = fromUnix(due)
	if err := json.Unmarshal(doc, c); err != nil {
		return nil, err
	}
	return c, c.Kept.open(r.keys, c.members())
}

// putCluster writes the record. Hosts in it are not stored.
func putCluster(c *Cluster, keys seal.Keys) (operation, error) {
	bare := *c
	bare.API.Hosts = nil
	if err := bare.Kept.shut(keys, bare.members()); err != nil {
		return operation{}, err
	}
	doc, err := json.Marshal(&bare)
	if err != nil {
		return operation{}, err
	}
	ref, next := c.Ref(), nextVersion(c.Version)
	return operation{ref: ref, stored: func() { c.Version, c.Kept = next, bare.Kept }, do: func(t *tx) error {
		if ref.Version == 0 {
			return t.change("make cluster", `INSERT INTO clusters (id, version, status, doc, due_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
				ref.ID, next, bare.API.Status, string(doc), unix(bare.Due))
		}
		return t.change("write cluster", `UPDATE clusters SET version = $1, status = $2, doc = $3, due_at = $4 WHERE id = $5 AND version = $6`,
			next, bare.API.Status, string(doc), unix(bare.Due), ref.ID, ref.Version)
	}}, nil
}
