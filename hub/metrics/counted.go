package metrics

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// counted is a store whose units are looked at once they are stored.
type counted struct {
	store.Store
	metrics *Metrics
}

// Counted is the store, with what is stored through it counted.
func (m *Metrics) Counted(s store.Store) store.Store { return &counted{s, m} }

// Commit implements [store.Store].
func (c *counted) Commit(ctx context.Context, u *store.Unit) error {
	failing := c.failing(ctx, u)
	if err := c.Store.Commit(ctx, u); err != nil {
		return err
	}
	c.metrics.note(u)
	for _, f := range failing {
		c.metrics.count(f.name, f.id)
	}
	return nil
}

// failed is a validation that failed, and the figure that it counts for.
type failed struct{ name, id string }

// failing are the validations that fail of the clusters that a unit removes. They are gone
// with it. What cannot be read is not counted.
func (c *counted) failing(ctx context.Context, u *store.Unit) (all []failed) {
	for _, gone := range u.Gone {
		if gone.Kind != store.KindCluster {
			continue
		}
		_ = c.View(ctx, func(r *store.Reader) error {
			cluster, err := r.Cluster(gone.ID)
			if err != nil {
				return err
			}
			all = append(all, failuresOf(cluster.API.ValidationsInfo, "cluster_validation_is_in_failed_status_on_cluster_deletion")...)
			hosts, err := r.Hosts(store.HostFilter{ClusterID: gone.ID, Bare: true})
			if err != nil {
				return err
			}
			keys := make([]store.HostKey, len(hosts))
			for i, h := range hosts {
				keys[i] = h.Key()
			}
			texts, err := r.Validations(keys)
			for _, text := range texts {
				all = append(all, failuresOf(text, "host_validation_is_in_failed_status_on_cluster_deletion")...)
			}
			return err
		})
	}
	return all
}

// failuresOf reads validations as the records have them.
func failuresOf(info, name string) (all []failed) {
	var categories map[string][]validations.Result
	if json.Unmarshal([]byte(info), &categories) != nil {
		return nil
	}
	for _, category := range categories {
		for _, r := range category {
			if r.Status == validations.Failure {
				all = append(all, failed{name, r.ID})
			}
		}
	}
	return all
}

// details are those of an event that figures are made of.
type details struct {
	From       string `json:"src_status"`
	To         string `json:"new_status"`
	Result     string `json:"result"`
	Validation string `json:"validation_id"`
}

// note counts what was stored.
func (m *Metrics) note(u *store.Unit) {
	for _, gone := range u.Gone {
		if gone.Kind == store.KindHost {
			m.leave(store.HostKey{InfraEnvID: gone.InfraEnvID, HostID: gone.ID})
		}
	}
	for i := range u.Events {
		e := &u.Events[i]
		if e.HostID != nil && e.InfraEnvID != nil {
			m.noteHost(e, find(u.Hosts, store.HostKey{InfraEnvID: *e.InfraEnvID, HostID: *e.HostID}))
		} else if e.ClusterID != nil {
			m.noteCluster(e, u.Clusters)
		}
	}
}

func find(hosts []*store.Host, key store.HostKey) *store.Host {
	for _, h := range hosts {
		if h.Key() == key {
			return h
		}
	}
	return nil
}

// results are those of an installation by the event that ends it.
var results = map[string]string{
	"cluster_installation_completed": "success", "cluster_installation_failed": "failed", "cluster_installation_canceled": "canceled",
}

func (m *Metrics) noteCluster(e *wire.Event, clusters []*store.Cluster) {
	version, started := "", time.Time{}
	for _, c := range clusters {
		if c.API.ID == *e.ClusterID {
			version, started = c.API.OpenshiftVersion, c.API.InstallStartedAt.Time
		}
	}
	switch e.Name {
	case "cluster_registration_succeeded":
		m.count("cluster_creations", version)
	case "cluster_prepare_installation_started":
		m.count("cluster_installation_started", version)
	case "cluster_validation_failed":
		m.count("cluster_validation_failed_after_success_before_installation", read(e).Validation)
	}
	if result, ok := results[e.Name]; ok && !started.IsZero() {
		m.observe("cluster_installation_seconds", e.EventTime.Sub(started).Seconds(), result, version)
	}
}

// read decodes the details; those that cannot be read are none.
func read(e *wire.Event) (d details) {
	_ = json.Unmarshal([]byte(e.Props), &d) // the hub wrote them
	return d
}
