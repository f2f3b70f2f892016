package polls

import (
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// pullsAMinute is how many hosts of a cluster begin to pull its images within a minute:
// all of a large one at once would be too much for a registry. The last of 1,000 hosts
// begins within seven minutes.
const pullsAMinute = 150

// throttle spreads over time what many hosts would do at once. The zero value is ready.
type throttle struct {
	mu       sync.Mutex
	clusters map[string]*window
}

// window is a minute of a cluster, and the hosts that have begun.
type window struct {
	since time.Time
	begun int
	hosts map[store.HostKey]time.Time
}

// admits reports whether the host may begin now; one that has begun may go on for a
// while, and is told again as often as it asks.
func (t *throttle) admits(clusterID string, key store.HostKey, now time.Time, lasts time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clusters == nil {
		t.clusters = map[string]*window{}
	}
	w := t.clusters[clusterID]
	if w == nil {
		w = &window{since: now, hosts: map[store.HostKey]time.Time{}}
		t.clusters[clusterID] = w
		t.forget(now, lasts)
	}
	if begun, ok := w.hosts[key]; ok && now.Sub(begun) <= lasts {
		return true
	}
	if now.Sub(w.since) >= time.Minute {
		w.since, w.begun = now, 0
	}
	if w.begun >= pullsAMinute {
		return false
	}
	w.begun++
	w.hosts[key] = now
	return true
}

// forget drops clusters whose hosts are done.
func (t *throttle) forget(now time.Time, lasts time.Duration) {
	for id, w := range t.clusters {
		if now.Sub(w.since) > lasts+time.Minute {
			delete(t.clusters, id)
		}
	}
}

// spread leaves the pull of images out of what a host is told, while too many others
// of its cluster have just begun.
func (d *Answerer) spread(steps wire.Steps, s *snapshots.Host, now time.Time) wire.Steps {
	i := slices.IndexFunc(steps.Instructions, func(step wire.Step) bool { return step.StepType == wire.StepTypeContainerImageAvailability })
	if i < 0 || d.pulls.admits(s.ClusterID, s.Key, now, d.units.Rules.Timers.Images) {
		return steps
	}
	steps.Instructions = slices.Delete(slices.Clone(steps.Instructions), i, i+1)
	return steps
}
