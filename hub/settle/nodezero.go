package settle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// shown is how many hosts are named that are waited for.
const shown = 5

// orderNodeZero has the host that the hub runs on installed once the other hosts of its
// cluster need the hub no more, and says until then which it waits for. A cluster with a
// release has a bootstrap host, whose agent waits by itself: nothing is done there.
func (w *Work) orderNodeZero(c *store.Cluster) error {
	if w.NodeZero.MAC == "" || !slices.Contains(evaluate.UnderWay, c.API.Status) {
		return nil
	}
	hosts, err := w.HostsOf(c.API.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(hosts, func(h *store.Host) bool { return evaluate.Waits(h, c) })
	if i < 0 {
		return nil
	}
	mine := hosts[i]
	var waits []string
	for _, h := range hosts {
		if h != mine && !evaluate.MayLeave(h, c) {
			waits = append(waits, evaluate.HostName(h))
		}
	}
	if n := len(waits); n > 0 {
		slices.Sort(waits)
		if n > shown {
			waits = append(waits[:shown], "and others")
		}
		info := fmt.Sprintf("The hub runs on this host, so it is installed last; %d other hosts still need the hub: %s", n, strings.Join(waits, ", "))
		if info != mine.API.StatusInfo {
			mine.API.StatusInfo = info
			w.Touch(mine, store.ChangedStatus)
		}
		return nil
	}
	mine.Last = false
	mine.API.StatusInfo, mine.API.StatusUpdatedAt = "The other hosts need the hub no more; this one is installed last", w.At()
	w.Touch(mine, store.ChangedStatus)
	return w.HostEvent(mine, "host_status_updated", wire.EventSeverityInfo, mine.API.Status+" ("+mine.API.StatusInfo+")",
		unit.Props{"src_status": mine.API.Status, "new_status": mine.API.Status, "info": mine.API.StatusInfo, "severity": wire.EventSeverityInfo})
}

// lackNodeZero says what keeps the host that the hub runs on from being the cluster's
// bootstrap host: another one would take the hub with it before the end.
func (w *Work) lackNodeZero(hosts []*store.Host) []sources.Lack {
	if w.NodeZero.MAC == "" {
		return nil
	}
	i := slices.IndexFunc(hosts, w.NodeZero.Is)
	switch {
	case i < 0:
		return []sources.Lack{{
			What: "the host that the hub runs on, with the MAC address " + w.NodeZero.MAC + ", is none of the cluster's",
			Next: "wait until its agent has registered, or make the image with the address of a host of this cluster as the rendezvous address",
		}}
	case hosts[i].API.Role != wire.HostRoleMaster:
		return []sources.Lack{{
			What: fmt.Sprintf("the hub runs on host %s, whose role is %s", evaluate.HostName(hosts[i]), hosts[i].API.Role),
			Next: "give it the role master, or make the image with the address of a host of the control plane as the rendezvous address",
		}}
	}
	return nil
}

// Resumed notes that the hub goes on from a copy of its state, since the host that it runs on
// has started anew: that host is not late with its installation, and its agent registers again.
func (u *Units) Resumed(ctx context.Context, from string) error {
	return u.Update(ctx, func(w *Work) error {
		clusters, err := w.Reader.Clusters(store.ClusterFilter{})
		if err != nil {
			return err
		}
		for _, c := range clusters {
			if err := w.resumed(c.API.ID, from); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *Work) resumed(clusterID, from string) error {
	c, err := w.Cluster(clusterID)
	if err != nil {
		return err
	}
	hosts, err := w.HostsOf(clusterID)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if !w.NodeZero.Is(h) || !slices.Contains(hostmachine.Installing, h.API.Status) || evaluate.PastReboot(h.Stage()) {
			continue
		}
		h.Restarted, h.API.StatusUpdatedAt = true, w.At()
		w.Touch(h, store.ChangedStatus)
	}
	return w.ClusterEvent(c, "cluster_hub_resumed", wire.EventSeverityWarning,
		"the host of the hub was started anew; the installation goes on from the copy of the hub's state on "+from, unit.Props{"disk": from})
}
