package store

import "encoding/json"

// InfraEnv returns the record, or [ErrNotFound].
func (t *Tx) InfraEnv(id string) (*InfraEnv, error) {
	var doc []byte
	if err := t.scanRow("infra-env "+id, `SELECT doc FROM infra_envs WHERE id = $1`, []any{id}, &doc); err != nil {
		return nil, err
	}
	env := &InfraEnv{}
	return env, json.Unmarshal(doc, env)
}

// InfraEnvs returns all records by id; a cluster id limits them to those bound to it.
func (t *Tx) InfraEnvs(clusterID string) ([]*InfraEnv, error) {
	var out []*InfraEnv
	err := t.scanAll("list infra-envs", `SELECT doc FROM infra_envs WHERE $1 = '' OR cluster_id = $1 ORDER BY id`, []any{clusterID},
		func(scan func(...any) error) error {
			var doc []byte
			env := &InfraEnv{}
			if err := scan(&doc); err != nil {
				return err
			}
			out = append(out, env)
			return json.Unmarshal(doc, env)
		})
	return out, err
}

// PutInfraEnv makes or replaces the record.
func (t *Tx) PutInfraEnv(env *InfraEnv) error {
	doc, err := json.Marshal(env)
	if err != nil {
		return err
	}
	return t.exec("write infra-env", `INSERT INTO infra_envs (id, cluster_id, doc) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET cluster_id = excluded.cluster_id, doc = excluded.doc`, env.API.ID, env.API.ClusterID, string(doc))
}

// DeleteInfraEnv removes the record; a missing one is no error.
func (t *Tx) DeleteInfraEnv(id string) error {
	return t.exec("delete infra-env", `DELETE FROM infra_envs WHERE id = $1`, id)
}
