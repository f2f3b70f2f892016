package settle

import (
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/instructions"
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
	if apierror.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := w.suggest(c); err != nil {
		return false, err
	}
	hosts, err := w.toEvaluate(c)
	if err != nil {
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
	started, err := w.startByItself(c)
	return changed || moved || started, err
}

// toEvaluate are the hosts of the cluster that were changed, and those that are evaluated
// otherwise since they were evaluated last, because of others or of the cluster. Time
// alone is the monitor's.
func (w *Work) toEvaluate(c *store.Cluster) ([]*store.Host, error) {
	g, err := w.group(c)
	if err != nil {
		return nil, err
	}
	known := w.clusters[c.API.ID]
	all, others := true, map[store.HostKey]bool(nil)
	if known.settled != nil {
		all, others = evaluate.Differ(known.settled, g)
	}
	known.settled = g
	if all {
		return w.HostsOf(c.API.ID)
	}
	for key := range others {
		if _, read := w.Peek(key); read {
			continue
		}
		if _, err := w.Host(key); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(w.Loaded(c.API.ID), func(h *store.Host) bool { return !w.IsDirty(h.Key()) && !others[h.Key()] }), nil
}

// startByItself starts the installation of a cluster that was told to, and of
// every host that joins one later.
func (w *Work) startByItself(c *store.Cluster) (bool, error) {
	if !c.AutoInstall || c.Hold || c.Restored && !c.Own { // the object of a record that was put back may know of an installation since
		return false, nil
	}
	g, err := w.group(c)
	switch {
	case err != nil:
		return false, err
	case instructions.IsDayTwo(&c.API):
		return false, w.startJoining(g)
	case c.API.Status != wire.ClusterStatusReady || c.CalledOff || !w.MayRepeat(c):
		return false, nil
	}
	if slices.ContainsFunc(g.Members, func(m *evaluate.Member) bool { return !m.Approved }) {
		return false, nil
	}
	return true, w.TriggerCluster(c, clustermachine.Prepare)
}
