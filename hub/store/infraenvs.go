package store

import (
	"encoding/json"
	"fmt"

	"github.com/ironflow/ironflow/hub/seal"
)

// InfraEnv returns the record, or [ErrNotFound].
func (r *Reader) InfraEnv(id string) (*InfraEnv, error) {
	return one(r, "infra-env "+id, `SELECT version, doc FROM infra_envs WHERE id = $1`, []any{id}, r.scanInfraEnv)
}

// InfraEnvFilter selects infra-envs; empty members select all.
type InfraEnvFilter struct {
	ClusterID string
	// After keeps only ids behind it; Limit bounds the number, zero does not.
	After string
	Limit int
}

// InfraEnvs returns the selected records by id.
func (r *Reader) InfraEnvs(f InfraEnvFilter) ([]*InfraEnv, error) {
	var where conditions
	where.in("cluster_id", f.ClusterID)
	where.after("id", f.After)
	query := `SELECT version, doc FROM infra_envs ` + where.String() + ` ORDER BY id` + where.limit(f.Limit)
	return all(r, "list infra-envs", query, where.args, r.scanInfraEnv)
}

func (r *Reader) scanInfraEnv(scan func(...any) error) (*InfraEnv, error) {
	var doc []byte
	env := &InfraEnv{}
	if err := scan(&env.Version, &doc); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(doc, env); err != nil {
		return nil, err
	}
	return env, env.Kept.open(r.keys, env.members())
}

func putInfraEnv(env *InfraEnv, keys seal.Keys) (operation, error) {
	bare := *env
	if err := bare.Kept.shut(keys, bare.members()); err != nil {
		return operation{}, err
	}
	doc, err := json.Marshal(&bare)
	if err != nil {
		return operation{}, err
	}
	ref, next := env.Ref(), nextVersion(env.Version)
	return operation{ref: ref, stored: func() { env.Version, env.Kept = next, bare.Kept }, do: func(t *tx) error {
		if ref.Version == 0 {
			return t.change("make infra-env", `INSERT INTO infra_envs (id, version, cluster_id, doc) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
				ref.ID, next, env.API.ClusterID, string(doc))
		}
		return t.change("write infra-env", `UPDATE infra_envs SET version = $1, cluster_id = $2, doc = $3 WHERE id = $4 AND version = $5`,
			next, env.API.ClusterID, string(doc), ref.ID, ref.Version)
	}}, nil
}

// removeInfraEnv removes the record unless it has hosts. One that is just being
// registered holds the record and is seen once it is stored.
func (t *tx) removeInfraEnv(r Ref) error {
	if err := t.change("remove infra-env", `DELETE FROM infra_envs WHERE id = $1 AND version = $2`, r.ID, r.Version); err != nil {
		return err
	}
	var hosts int
	if err := t.scanRow("count hosts", `SELECT COUNT(*) FROM hosts WHERE infra_env_id = $1`, []any{r.ID}, &hosts); err != nil {
		return err
	}
	if hosts > 0 {
		return fmt.Errorf("infra-env %s has hosts: %w", r.ID, ErrConflict)
	}
	return nil
}
