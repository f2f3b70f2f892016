package unit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Work is one unit of work: every record is read once, changed in memory and
// handed to the store at the end, together with the events and the announcements.
type Work struct {
	// Now is the unit's time, in UTC.
	Now time.Time
	// Reader reads what has no method here. What it returns is not part of the unit.
	Reader *store.Reader

	ctx   context.Context
	units *Units
	// turn takes each cluster that is read; nil where nothing is stored.
	turn *turn

	hosts    map[store.HostKey]*store.Host
	clusters map[string]*store.Cluster
	envs     map[string]*store.InfraEnv
	// unit is what is to be stored; records come into it at the end.
	unit store.Unit
	// members are the hosts of clusters that were read as a whole.
	members map[string][]store.HostKey

	// gone are the hosts that the unit removes.
	gone map[store.HostKey]bool

	// dirtyHosts and dirtyClusters have to be written and looked at again.
	dirtyHosts    map[store.HostKey]bool
	dirtyClusters map[string]bool

	// jobs are those that were read or are wanted, by their ids.
	jobs map[string]*jobChange

	// names are those of hosts that events are about.
	names map[store.HostKey]named
	// generation grows with whatever may make the records different.
	generation int

	lines []line
	// stored is done once the work is stored, before the next one on the same cluster.
	stored []func()
	// after is done once the work is stored; a failure is only logged.
	after []func() error
}

// line is a log line that is written once the work is stored.
type line struct {
	message string
	args    []any
}

func (u *Units) work(ctx context.Context, read *store.Reader) *Work {
	return &Work{
		Now: u.Now().UTC(), Reader: read, ctx: ctx, units: u,
		hosts: map[store.HostKey]*store.Host{}, clusters: map[string]*store.Cluster{}, envs: map[string]*store.InfraEnv{},
		members: map[string][]store.HostKey{}, dirtyHosts: map[store.HostKey]bool{}, dirtyClusters: map[string]bool{},
		jobs: map[string]*jobChange{},
		gone: map[store.HostKey]bool{}, names: map[store.HostKey]named{},
	}
}

// Context is that of the call which the work is done for.
func (w *Work) Context() context.Context { return w.ctx }

// Host returns the record, or a refusal with 404.
func (w *Work) Host(key store.HostKey) (*store.Host, error) {
	if h, ok := w.hosts[key]; ok {
		return h, w.Reader.ReadConnectivity([]*store.Host{h})
	}
	h, err := w.Reader.Host(key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, apierror.NotFound("host %s is not registered in infra-env %s", key.HostID, key.InfraEnvID)
	}
	if err != nil {
		return nil, err
	}
	w.units.Heard(h)
	w.hosts[key] = h
	w.generation++
	w.unit.Read = append(w.unit.Read, h.Ref())
	return h, nil
}

// Cluster returns the record, or a refusal with 404.
func (w *Work) Cluster(id string) (*store.Cluster, error) {
	if c, ok := w.clusters[id]; ok {
		return c, nil
	}
	if w.turn != nil {
		if err := w.turn.take(id); err != nil {
			return nil, err
		}
	}
	c, err := w.Reader.Cluster(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && slices.Contains(w.unit.Gone, c.Ref()) {
		return nil, apierror.NotFound("there is no cluster %s", id)
	}
	if err != nil {
		return nil, err
	}
	w.clusters[id] = c
	w.unit.Read = append(w.unit.Read, c.Ref())
	return c, nil
}

// ClusterOf returns the host's cluster, or nil for an unbound host.
func (w *Work) ClusterOf(h *store.Host) (*store.Cluster, error) {
	if h.ClusterID() == "" {
		return nil, nil
	}
	return w.Cluster(h.ClusterID())
}

// Env returns the record, or a refusal with 404.
func (w *Work) Env(id string) (*store.InfraEnv, error) {
	if e, ok := w.envs[id]; ok {
		return e, nil
	}
	e, err := w.Reader.InfraEnv(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, apierror.NotFound("there is no infra-env %s", id)
	}
	if err != nil {
		return nil, err
	}
	w.envs[id] = e
	w.unit.Read = append(w.unit.Read, e.Ref())
	return e, nil
}

// HostsOf returns all hosts of a cluster, by id. The cluster's record vouches for
// them: it is written with each change of one of its hosts. Those that were not read
// before are [store.Host.Unlinked].
func (w *Work) HostsOf(clusterID string) ([]*store.Host, error) {
	if _, read := w.members[clusterID]; !read {
		if _, err := w.Cluster(clusterID); err != nil {
			return nil, err
		}
		found, err := w.Reader.Hosts(store.HostFilter{ClusterID: clusterID, Unlinked: true})
		if err != nil {
			return nil, err
		}
		keys := []store.HostKey{}
		for _, h := range found {
			if w.gone[h.Key()] {
				continue
			}
			if _, have := w.hosts[h.Key()]; !have {
				w.units.Heard(h)
				w.hosts[h.Key()] = h
			}
			keys = append(keys, h.Key())
		}
		w.members[clusterID] = keys
		w.generation++
	}
	return w.Loaded(clusterID), nil
}

// Loaded are the hosts of a cluster that the unit has read or made, by id.
func (w *Work) Loaded(clusterID string) []*store.Host {
	var out []*store.Host
	for _, h := range w.hosts {
		if h.ClusterID() == clusterID {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *store.Host) int { return a.Key().Compare(b.Key()) })
	return out
}

// Peek returns a host that the unit has read or made; known also for one that it removes.
func (w *Work) Peek(key store.HostKey) (h *store.Host, known bool) {
	h = w.hosts[key]
	return h, h != nil || w.gone[key]
}

// Heard gives a record that was read apart from the unit the last sign of life of its host.
func (w *Work) Heard(h *store.Host) { w.units.Heard(h) }

// IsDirty reports whether the host was changed.
func (w *Work) IsDirty(key store.HostKey) bool { return w.dirtyHosts[key] }

// Touch marks the host as changed, announces what, and has it and its cluster
// looked at again.
func (w *Work) Touch(h *store.Host, what store.What) {
	w.generation++
	w.hosts[h.Key()] = h
	w.dirtyHosts[h.Key()] = true
	h.API.UpdatedAt = w.Now
	w.Announce(store.Change{InfraEnvID: h.API.InfraEnvID, HostID: h.API.ID, ClusterID: h.ClusterID(), What: what})
	if id := h.ClusterID(); id != "" {
		w.dirtyClusters[id] = true
	}
}

// TouchCluster marks the cluster as changed.
func (w *Work) TouchCluster(c *store.Cluster) {
	w.generation++
	w.clusters[c.API.ID] = c
	w.dirtyClusters[c.API.ID] = true
	c.API.UpdatedAt = w.Now
	w.Announce(store.Change{ClusterID: c.API.ID, What: store.ChangedCluster})
}

// Write has the host stored and looked at again, without a word to others.
func (w *Work) Write(h *store.Host) {
	w.generation++
	w.hosts[h.Key()], w.dirtyHosts[h.Key()] = h, true
}

// Generation is the same as long as no record was read, touched, written or removed.
func (w *Work) Generation() int { return w.generation }

// LookAt has the cluster looked at again, and stored.
func (w *Work) LookAt(clusterID string) { w.dirtyClusters[clusterID] = true }

// PutEnv has the infra-env stored.
func (w *Work) PutEnv(e *store.InfraEnv) {
	e.API.UpdatedAt = w.Now
	w.envs[e.API.ID] = e
	w.Announce(store.Change{InfraEnvID: e.API.ID, What: store.ChangedInfraEnv})
	w.unit.InfraEnvs = append(w.unit.InfraEnvs, e)
}

// DirtyHosts are the hosts that were changed, by id.
func (w *Work) DirtyHosts() []*store.Host {
	var out []*store.Host
	for _, key := range slices.SortedFunc(maps.Keys(w.dirtyHosts), store.HostKey.Compare) {
		out = append(out, w.hosts[key])
	}
	return out
}

// DirtyClusters are the ids of the clusters that were changed, or one of whose hosts was.
func (w *Work) DirtyClusters() []string { return slices.Sorted(maps.Keys(w.dirtyClusters)) }

// Log has a line logged once the work is stored.
func (w *Work) Log(message string, args ...any) { w.lines = append(w.lines, line{message, args}) }

// Stored has f, something quick in memory, done once the work is stored, before the
// next work on the same cluster begins.
func (w *Work) Stored(f func()) { w.stored = append(w.stored, f) }

// After has f done once the work is stored. A failure is only logged.
func (w *Work) After(f func() error) { w.after = append(w.after, f) }

// Empty reports whether nothing has changed; it is known only after the unit.
func (w *Work) Empty() bool { return w.unit.Empty() }

// Announce has a change told to others once it is stored.
func (w *Work) Announce(e store.Change) {
	if !slices.Contains(w.unit.Changes, e) {
		w.unit.Changes = append(w.unit.Changes, e)
	}
}

// ForgetHost removes a host from the unit and the store.
func (w *Work) ForgetHost(h *store.Host) {
	w.generation++
	if id := h.ClusterID(); id != "" {
		w.dirtyClusters[id] = true
	}
	delete(w.hosts, h.Key())
	delete(w.dirtyHosts, h.Key())
	w.gone[h.Key()] = true
	w.Announce(store.Change{InfraEnvID: h.API.InfraEnvID, HostID: h.API.ID, ClusterID: h.ClusterID(), What: store.ChangedDeleted})
	w.forget(h.Ref())
}

// ForgetCluster removes a cluster from the unit and the store.
func (w *Work) ForgetCluster(c *store.Cluster) {
	w.generation++
	delete(w.clusters, c.API.ID)
	delete(w.dirtyClusters, c.API.ID)
	w.Announce(store.Change{ClusterID: c.API.ID, What: store.ChangedDeleted})
	w.forget(c.Ref())
}

// forget removes a record and what it left elsewhere.
func (w *Work) forget(r store.Ref) {
	w.Remove(r)
	if w.units.Forgotten != nil {
		w.After(func() error { return w.units.Forgotten(r) })
	}
}

// PutFile has a file of a cluster written or removed. Its cluster has to be
// touched as well.
func (w *Work) PutFile(f store.ClusterFile) { w.unit.Files = append(w.unit.Files, f) }

// Remove has the store forget a record; one that was never stored is none to forget.
func (w *Work) Remove(r store.Ref) {
	if r.Version != 0 {
		w.unit.Gone = append(w.unit.Gone, r)
	}
}

// finish fills the unit with what has changed.
func (w *Work) finish() (*store.Unit, error) {
	for _, h := range w.DirtyHosts() {
		w.unit.Hosts = append(w.unit.Hosts, h)
		w.moved(h)
	}
	for _, id := range w.DirtyClusters() {
		c, err := w.Cluster(id)
		if apierror.IsNotFound(err) {
			continue // its hosts are on their way out of it
		}
		if err != nil {
			return nil, err
		}
		w.unit.Clusters = append(w.unit.Clusters, c)
	}
	w.finishJobs()
	return &w.unit, nil
}

// moved has the clusters of a changed host written, the one that it is in and the
// one that it was in: their records vouch for their hosts.
func (w *Work) moved(h *store.Host) {
	now, before := h.ClusterID(), h.WasIn()
	if now != "" {
		w.dirtyClusters[now] = true
	}
	if before != "" && before != now {
		w.dirtyClusters[before] = true
		w.Announce(store.Change{InfraEnvID: h.API.InfraEnvID, HostID: h.API.ID, ClusterID: before, What: store.ChangedHost})
	}
}

// At is the unit's time as the protocol writes it.
func (w *Work) At() wire.DateTime { return wire.At(w.Now) }
