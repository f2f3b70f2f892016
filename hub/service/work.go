package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// work is one unit of work: every record is read once, changed in memory and
// written at the end, together with the events and the announcements.
type work struct {
	ctx context.Context
	hub *Hub
	tx  *store.Tx
	now time.Time

	hosts    map[store.HostKey]*store.Host
	clusters map[string]*store.Cluster
	envs     map[string]*store.InfraEnv
	// members are the hosts of clusters that were read as a whole.
	members map[string][]store.HostKey

	// dirtyHosts and dirtyClusters have to be written and looked at again.
	dirtyHosts    map[store.HostKey]bool
	dirtyClusters map[string]bool

	// quiet hosts are written, but nothing about them calls for a second look.
	quiet []*store.Host

	// decoded and common keep what the checks look at.
	decoded map[store.HostKey]decoded
	common  map[string]common

	changes []Event
	lines   []line
	// after is done once the work is stored; a failure is only logged.
	after []func() error
}

// line is a log line that is written once the work is stored.
type line struct {
	message string
	args    []any
}

func newWork(ctx context.Context, h *Hub, tx *store.Tx) *work {
	return &work{
		ctx: ctx, hub: h, tx: tx, now: h.now().UTC(),
		hosts: map[store.HostKey]*store.Host{}, clusters: map[string]*store.Cluster{}, envs: map[string]*store.InfraEnv{},
		members: map[string][]store.HostKey{}, dirtyHosts: map[store.HostKey]bool{}, dirtyClusters: map[string]bool{},
		decoded: map[store.HostKey]decoded{}, common: map[string]common{},
	}
}

// host returns the record, or a refusal with 404.
func (w *work) host(key store.HostKey) (*store.Host, error) {
	if h, ok := w.hosts[key]; ok {
		return h, nil
	}
	h, err := w.tx.Host(key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, refuse(404, "host %s is not registered in infra-env %s", key.HostID, key.InfraEnvID)
	}
	if err != nil {
		return nil, err
	}
	w.hosts[key] = h
	return h, nil
}

// cluster returns the record, or a refusal with 404.
func (w *work) cluster(id string) (*store.Cluster, error) {
	if c, ok := w.clusters[id]; ok {
		return c, nil
	}
	c, err := w.tx.Cluster(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, refuse(404, "there is no cluster %s", id)
	}
	if err != nil {
		return nil, err
	}
	w.clusters[id] = c
	return c, nil
}

// clusterOf returns the host's cluster, or nil for an unbound host.
func (w *work) clusterOf(h *store.Host) (*store.Cluster, error) {
	if h.ClusterID() == "" {
		return nil, nil
	}
	return w.cluster(h.ClusterID())
}

// env returns the record, or a refusal with 404.
func (w *work) env(id string) (*store.InfraEnv, error) {
	if e, ok := w.envs[id]; ok {
		return e, nil
	}
	e, err := w.tx.InfraEnv(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, refuse(404, "there is no infra-env %s", id)
	}
	if err != nil {
		return nil, err
	}
	w.envs[id] = e
	return e, nil
}

// hostsOf returns all hosts of a cluster, by id.
func (w *work) hostsOf(clusterID string) ([]*store.Host, error) {
	if _, read := w.members[clusterID]; !read {
		found, err := w.tx.Hosts(store.HostFilter{ClusterID: clusterID})
		if err != nil {
			return nil, err
		}
		keys := []store.HostKey{}
		for _, h := range found {
			if _, have := w.hosts[h.Key()]; !have {
				w.hosts[h.Key()] = h
			}
			keys = append(keys, h.Key())
		}
		w.members[clusterID] = keys
	}
	var out []*store.Host
	for key := range w.hosts {
		if h := w.hosts[key]; h != nil && h.ClusterID() == clusterID {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *store.Host) int { return compareKeys(a.Key(), b.Key()) })
	return out, nil
}

func compareKeys(a, b store.HostKey) int {
	return slices.Compare([]string{a.InfraEnvID, a.HostID}, []string{b.InfraEnvID, b.HostID})
}

// touch marks the host as changed, announces what, and has it and its cluster
// looked at again.
func (w *work) touch(h *store.Host, what What) {
	w.hosts[h.Key()] = h
	w.dirtyHosts[h.Key()] = true
	h.API.UpdatedAt = w.now
	w.announce(Event{InfraEnvID: h.API.InfraEnvID, HostID: h.API.ID, ClusterID: h.ClusterID(), What: what})
	if id := h.ClusterID(); id != "" {
		w.dirtyClusters[id] = true
	}
}

// touchCluster marks the cluster as changed.
func (w *work) touchCluster(c *store.Cluster) {
	w.clusters[c.API.ID] = c
	w.dirtyClusters[c.API.ID] = true
	c.API.UpdatedAt = w.now
	w.announce(Event{ClusterID: c.API.ID, What: ChangedCluster})
}

func (w *work) announce(e Event) {
	if !slices.Contains(w.changes, e) {
		w.changes = append(w.changes, e)
	}
}

// forgetHost removes a host from the unit and the store.
func (w *work) forgetHost(h *store.Host) error {
	if id := h.ClusterID(); id != "" {
		w.dirtyClusters[id] = true
	}
	delete(w.hosts, h.Key())
	delete(w.dirtyHosts, h.Key())
	w.announce(Event{InfraEnvID: h.API.InfraEnvID, HostID: h.API.ID, ClusterID: h.ClusterID(), What: ChangedDeleted})
	return w.tx.DeleteHost(h.Key())
}

// forgetCluster removes a cluster from the unit and the store.
func (w *work) forgetCluster(id string) error {
	delete(w.clusters, id)
	delete(w.dirtyClusters, id)
	w.announce(Event{ClusterID: id, What: ChangedDeleted})
	return w.tx.DeleteCluster(id)
}

// flush writes what has changed.
func (w *work) flush() error {
	for _, h := range w.quiet {
		if !w.dirtyHosts[h.Key()] {
			if err := w.tx.PutHost(h); err != nil {
				return err
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(w.dirtyHosts), compareKeys) {
		if err := w.tx.PutHost(w.hosts[key]); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.dirtyClusters)) {
		c, err := w.cluster(id)
		if IsNotFound(err) {
			continue // its hosts are on their way out of it
		}
		if err := errors.Join(err, w.tx.PutCluster(c)); err != nil {
			return err
		}
	}
	return nil
}

// at is the unit's time as the protocol writes it.
func (w *work) at() wire.DateTime { return wire.At(w.now) }
