package settle

import (
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/store"
)

// keepFrom is the size of the smallest cluster that is kept: one of a single host
// has no others to read.
const keepFrom = 2

// clocksFor is how long the clocks of hosts are believed that other replicas hear.
const clocksFor = time.Minute

// entry is a cluster as it was stored. It does not change.
type entry struct {
	group *evaluate.Group
	// version is that of the cluster's record, which is written with each change of
	// one of its hosts: the same version means the same hosts.
	version int64
	// evaluated tells that the results of all hosts follow from the group, and not from
	// an earlier one, or from another program's rules.
	evaluated bool
	// read is when the signs of life were read from the store.
	read time.Time
}

// kept are clusters in memory, so that a change of one host of a cluster of 500
// costs about what it costs in one of 5: BenchmarkChangedReply. The zero value is ready.
type kept struct {
	mu       sync.Mutex
	clusters map[string]*entry
}

func (k *kept) get(clusterID string) *entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clusters[clusterID]
}

// put keeps a cluster. One that comes late does not replace a newer one.
func (k *kept) put(clusterID string, e *entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.clusters[clusterID]; old != nil && old.version > e.version {
		return
	}
	if k.clusters == nil {
		k.clusters = map[string]*entry{}
	}
	if k.clusters[clusterID] = e; len(e.group.Members) < keepFrom {
		delete(k.clusters, clusterID)
	}
}

// Forget drops the clusters that the changes say are gone.
func (u *Units) Forget(changes []store.Change) {
	u.kept.mu.Lock()
	defer u.kept.mu.Unlock()
	for _, c := range changes {
		switch {
		case c.What == store.ChangedAll:
			u.kept.clusters = nil // some of them may be gone
		case c.What == store.ChangedDeleted && c.HostID == "":
			delete(u.kept.clusters, c.ClusterID)
		}
	}
}
