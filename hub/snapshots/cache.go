package snapshots

import (
	"sync"

	"github.com/ironflow/ironflow/hub/store"
)

// recent is how many changes are remembered for snapshots that are being made.
const recent = 1024

// Moment is a place in the order of changes.
type Moment uint64

// Cache holds the snapshots. The zero value is ready. All methods are safe for
// concurrent use.
type Cache struct {
	mu    sync.RWMutex
	hosts map[store.HostKey]*Host
	// generations are those of the infra-envs' tokens.
	generations map[string]int64
	// byCluster and byEnv are the keys of hosts.
	byCluster, byEnv map[string]map[store.HostKey]bool
	peers            map[string]*Peers
	// replies are the last ones of each host.
	replies map[store.HostKey][]told
	// changes are the last ones; seen counts all.
	changes []store.Change
	seen    Moment
}

// Host returns the snapshot; nil when there is none.
func (c *Cache) Host(key store.HostKey) *Host {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.hosts[key]
}

// Now is the moment to note before records are read.
func (c *Cache) Now() Moment {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.seen
}

// Put keeps a snapshot of records that were read after the moment, unless they
// have changed since, or it is too large.
func (c *Cache) Put(h *Host, since Moment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.Size() > MaxSize || c.changed(since, h) {
		return
	}
	if c.hosts == nil {
		c.hosts, c.byCluster, c.byEnv = map[store.HostKey]*Host{}, map[string]map[store.HostKey]bool{}, map[string]map[store.HostKey]bool{}
	}
	c.drop(h.Key)
	c.hosts[h.Key] = h
	index(c.byEnv, h.Key.InfraEnvID, h.Key)
	index(c.byCluster, h.ClusterID, h.Key)
}

// changed reports whether anything that the snapshot is made of may have changed.
func (c *Cache) changed(since Moment, h *Host) bool {
	missed := int(c.seen - since)
	if missed > len(c.changes) {
		return true
	}
	for _, change := range c.changes[len(c.changes)-missed:] {
		if concerns(change, h) {
			return true
		}
	}
	return false
}

// concerns reports whether the change is about the host, or about its cluster or
// infra-env as a whole.
func concerns(change store.Change, h *Host) bool {
	switch {
	case change.What == store.ChangedAll:
		return true
	case change.HostID != "":
		return change.InfraEnvID == h.Key.InfraEnvID && change.HostID == h.Key.HostID
	case change.ClusterID != "":
		return change.ClusterID == h.ClusterID
	}
	return change.InfraEnvID == h.Key.InfraEnvID
}

// Generation returns the generation of the infra-env's tokens, if it is known.
func (c *Cache) Generation(infraEnvID string) (generation int64, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	generation, known = c.generations[infraEnvID]
	return generation, known
}

// PutGeneration keeps what was read after the moment, unless it has changed since.
func (c *Cache) PutGeneration(infraEnvID string, generation int64, since Moment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed(since, &Host{Key: store.HostKey{InfraEnvID: infraEnvID}}) {
		return
	}
	if c.generations == nil {
		c.generations = map[string]int64{}
	}
	c.generations[infraEnvID] = generation
}

// Peers returns what is kept of the hosts of a cluster.
func (c *Cache) Peers(clusterID string) *Peers {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.peers == nil {
		c.peers = map[string]*Peers{}
	}
	if c.peers[clusterID] == nil {
		c.peers[clusterID] = &Peers{}
	}
	return c.peers[clusterID]
}

// Forget drops what the changes are about.
func (c *Cache) Forget(changes []store.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, change := range changes {
		c.forget(change)
	}
	c.seen += Moment(len(changes))
	c.changes = append(c.changes, changes...)
	if len(c.changes) > 2*recent {
		c.changes = append([]store.Change(nil), c.changes[len(c.changes)-recent:]...)
	}
}

func (c *Cache) forget(change store.Change) {
	switch {
	case change.What == store.ChangedAll:
		c.hosts, c.byCluster, c.byEnv, c.peers, c.replies, c.generations = nil, nil, nil, nil, nil, nil
	case change.HostID != "":
		key := store.HostKey{InfraEnvID: change.InfraEnvID, HostID: change.HostID}
		c.drop(key)
		if p := c.peers[change.ClusterID]; p != nil {
			p.outdated(key)
		}
		if change.What == store.ChangedDeleted {
			delete(c.replies, key)
		}
	case change.ClusterID != "":
		c.dropAll(c.byCluster[change.ClusterID])
		if change.What == store.ChangedDeleted {
			delete(c.peers, change.ClusterID)
		}
	default:
		c.dropAll(c.byEnv[change.InfraEnvID])
		delete(c.generations, change.InfraEnvID)
	}
}

func (c *Cache) dropAll(keys map[store.HostKey]bool) {
	for key := range keys {
		c.drop(key)
	}
}

func (c *Cache) drop(key store.HostKey) {
	h := c.hosts[key]
	if h == nil {
		return
	}
	delete(c.hosts, key)
	unindex(c.byEnv, key.InfraEnvID, key)
	unindex(c.byCluster, h.ClusterID, key)
}

func index(by map[string]map[store.HostKey]bool, id string, key store.HostKey) {
	if id == "" {
		return
	}
	if by[id] == nil {
		by[id] = map[store.HostKey]bool{}
	}
	by[id][key] = true
}

func unindex(by map[string]map[store.HostKey]bool, id string, key store.HostKey) {
	delete(by[id], key)
	if len(by[id]) == 0 {
		delete(by, id)
	}
}
