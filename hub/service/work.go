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
// handed to the store at the end, together with the events and the announcements.
type work struct {
	ctx  context.Context
	hub  *Hub
	read *store.Reader
	now  time.Time

	hosts    map[store.HostKey]*store.Host
	clusters map[string]*store.Cluster
	envs     map[string]*store.InfraEnv
	// unit is what is to be stored; records come into it at the end.
	unit store.Unit
	// members are the hosts of clusters that were read as a whole.
	members map[string][]store.HostKey

	// dirtyHosts and dirtyClusters have to be written and looked at again.
	dirtyHosts    map[store.HostKey]bool
	dirtyClusters map[string]bool

	// decoded and common keep what the checks look at.
	decoded map[store.HostKey]decoded
	common  map[string]common

	lines []line
	// after is done once the work is stored; a failure is only logged.
	after []func() error
}

// line is a log line that is written once the work is stored.
type line struct {
	message string
	args    []any
}

func newWork(ctx context.Context, h *Hub, read *store.Reader) *work {
	return &work{
		ctx: ctx, hub: h, read: read, now: h.now().UTC(),
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
	h, err := w.read.Host(key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, refuse(404, "host %s is not registered in infra-env %s", key.HostID, key.InfraEnvID)
	}
	if err != nil {
		return nil, err
	}
	w.hub.heard(h)
	w.hosts[key] = h
	w.unit.Read = append(w.unit.Read, h.Ref())
	return h, nil
}

// cluster returns the record, or a refusal with 404.
func (w *work) cluster(id string) (*store.Cluster, error) {
	if c, ok := w.clusters[id]; ok {
		return c, nil
	}
	c, err := w.read.Cluster(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && slices.Contains(w.unit.Gone, c.Ref()) {
		return nil, refuse(404, "there is no cluster %s", id)
	}
	if err != nil {
		return nil, err
	}
	w.clusters[id] = c
	w.unit.Read = append(w.unit.Read, c.Ref())
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
	e, err := w.read.InfraEnv(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, refuse(404, "there is no infra-env %s", id)
	}
	if err != nil {
		return nil, err
	}
	w.envs[id] = e
	w.unit.Read = append(w.unit.Read, e.Ref())
	return e, nil
}

// hostsOf returns all hosts of a cluster, by id. The cluster's record vouches for
// them: it is written with each change of one of its hosts.
func (w *work) hostsOf(clusterID string) ([]*store.Host, error) {
	if _, read := w.members[clusterID]; !read {
		if _, err := w.cluster(clusterID); err != nil {
			return nil, err
		}
		found, err := w.read.Hosts(store.HostFilter{ClusterID: clusterID})
		if err != nil {
			return nil, err
		}
		keys := []store.HostKey{}
		for _, h := range found {
			if _, have := w.hosts[h.Key()]; !have {
				w.hub.heard(h)
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
	slices.SortFunc(out, func(a, b *store.Host) int { return a.Key().Compare(b.Key()) })
	return out, nil
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
	if !slices.Contains(w.unit.Changes, e) {
		w.unit.Changes = append(w.unit.Changes, e)
	}
}

// forgetHost removes a host from the unit and the store.
func (w *work) forgetHost(h *store.Host) {
	if id := h.ClusterID(); id != "" {
		w.dirtyClusters[id] = true
	}
	delete(w.hosts, h.Key())
	delete(w.dirtyHosts, h.Key())
	w.announce(Event{InfraEnvID: h.API.InfraEnvID, HostID: h.API.ID, ClusterID: h.ClusterID(), What: ChangedDeleted})
	w.remove(h.Ref())
}

// forgetCluster removes a cluster from the unit and the store.
func (w *work) forgetCluster(c *store.Cluster) {
	delete(w.clusters, c.API.ID)
	delete(w.dirtyClusters, c.API.ID)
	w.announce(Event{ClusterID: c.API.ID, What: ChangedDeleted})
	w.remove(c.Ref())
}

// remove has the store forget a record; one that was never stored is none to forget.
func (w *work) remove(r store.Ref) {
	if r.Version != 0 {
		w.unit.Gone = append(w.unit.Gone, r)
	}
}

// finish fills the unit with what has changed.
func (w *work) finish() (*store.Unit, error) {
	for _, key := range slices.SortedFunc(maps.Keys(w.dirtyHosts), store.HostKey.Compare) {
		h := w.hosts[key]
		w.unit.Hosts = append(w.unit.Hosts, h)
		w.moved(h)
	}
	for _, id := range slices.Sorted(maps.Keys(w.dirtyClusters)) {
		c, err := w.cluster(id)
		if IsNotFound(err) {
			continue // its hosts are on their way out of it
		}
		if err != nil {
			return nil, err
		}
		w.unit.Clusters = append(w.unit.Clusters, c)
	}
	return &w.unit, nil
}

// moved has the clusters of a changed host written, the one that it is in and the
// one that it was in: their records vouch for their hosts.
func (w *work) moved(h *store.Host) {
	now, before := h.ClusterID(), h.WasIn()
	if now != "" {
		w.dirtyClusters[now] = true
	}
	if before != "" && before != now {
		w.dirtyClusters[before] = true
		w.announce(Event{InfraEnvID: h.API.InfraEnvID, HostID: h.API.ID, ClusterID: before, What: ChangedHost})
	}
}

// at is the unit's time as the protocol writes it.
func (w *work) at() wire.DateTime { return wire.At(w.now) }
