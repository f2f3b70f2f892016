package settle

import (
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// settleRounds bounds how often the tables may follow each other. A host passes
// some twenty statuses in its life; more rounds mean that two rules fight.
const settleRounds = 50

// Settle looks at everything that the unit has changed until nothing follows
// any more: a reply makes a host ready, a ready host its cluster, a ready
// cluster starts its installation, and so on.
func (w *Work) Settle() error {
	for range settleRounds {
		changed := false
		for _, h := range w.DirtyHosts() {
			if h.ClusterID() == "" {
				moved, err := w.RefreshHost(h)
				if err != nil {
					return err
				}
				changed = changed || moved
			}
		}
		for _, id := range w.DirtyClusters() {
			moved, err := w.SettleCluster(id)
			if err != nil {
				return err
			}
			changed = changed || moved
		}
		if !changed {
			return nil
		}
	}
	return fmt.Errorf("hub: the state machines do not come to rest after %d rounds", settleRounds)
}

// SettleCluster goes once round the cluster and its hosts.
func (w *Work) SettleCluster(id string) (changed bool, err error) {
	c, err := w.Cluster(id)
	if refusal.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	hosts, err := w.HostsOf(id)
	if err != nil {
		return false, err
	}
	if err := w.suggest(c, hosts); err != nil {
		return false, err
	}
	for _, h := range hosts {
		moved, err := w.RefreshHost(h)
		if err != nil {
			return false, err
		}
		changed = changed || moved
	}
	moved, err := w.refreshCluster(c)
	if err != nil {
		return false, err
	}
	started, err := w.startByItself(c, hosts)
	return changed || moved || started, err
}

// startByItself starts the installation of a cluster that was told to, and of
// every host that joins one later.
func (w *Work) startByItself(c *store.Cluster, hosts []*store.Host) (bool, error) {
	switch {
	case !c.AutoInstall || c.Hold:
		return false, nil
	case instructions.IsDayTwo(&c.API):
		return w.startJoining(hosts)
	case c.API.Status != wire.ClusterStatusReady || !w.MayRepeat(c):
		return false, nil
	}
	if slices.ContainsFunc(hosts, func(h *store.Host) bool { return !h.Approved }) {
		return false, nil
	}
	return true, w.TriggerCluster(c, clustermachine.Prepare)
}

// startJoining installs the hosts of an installed cluster that are ready, each by itself.
func (w *Work) startJoining(hosts []*store.Host) (started bool, err error) {
	for _, h := range hosts {
		if !h.Approved || h.API.Status != wire.HostStatusKnown {
			continue
		}
		if err := w.Trigger(h, hostmachine.Install, ""); err != nil {
			return started, err
		}
		started = true
	}
	return started, nil
}
