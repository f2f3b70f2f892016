package store

import "encoding/json"

// Cluster returns the record, or [ErrNotFound].
func (t *Tx) Cluster(id string) (*Cluster, error) {
	var doc []byte
	if err := t.scanRow("cluster "+id, `SELECT doc FROM clusters WHERE id = $1`, []any{id}, &doc); err != nil {
		return nil, err
	}
	c := &Cluster{}
	return c, json.Unmarshal(doc, c)
}

// Clusters returns all records by id.
func (t *Tx) Clusters() ([]*Cluster, error) { return t.ClustersIn() }

// PutCluster makes or replaces the record. Hosts in it are not stored.
func (t *Tx) PutCluster(c *Cluster) error {
	bare := *c
	bare.API.Hosts = nil
	doc, err := json.Marshal(&bare)
	if err != nil {
		return err
	}
	return t.exec("write cluster", `INSERT INTO clusters (id, status, doc) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET status = excluded.status, doc = excluded.doc`, c.API.ID, c.API.Status, string(doc))
}

// DeleteCluster removes the record; a missing one is no error.
func (t *Tx) DeleteCluster(id string) error {
	return t.exec("delete cluster", `DELETE FROM clusters WHERE id = $1`, id)
}

// ClustersIn returns the records in one of the statuses, by id.
func (t *Tx) ClustersIn(statuses ...string) ([]*Cluster, error) {
	var where conditions
	where.in("status", statuses...)
	return t.clusters(`SELECT doc FROM clusters `+where.String()+` ORDER BY id`, where.args...)
}

func (t *Tx) clusters(query string, args ...any) ([]*Cluster, error) {
	var out []*Cluster
	err := t.scanAll("list clusters", query, args, func(scan func(...any) error) error {
		var doc []byte
		c := &Cluster{}
		if err := scan(&doc); err != nil {
			return err
		}
		out = append(out, c)
		return json.Unmarshal(doc, c)
	})
	return out, err
}
