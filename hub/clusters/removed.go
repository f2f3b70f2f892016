package clusters

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// removal is the event of a cluster that was removed. It is all that is kept of the
// cluster, as long as the timeline is.
const removal = "cluster_deregistered"

// removed is what the event says of the cluster, with the protocol's names.
type removed struct {
	Name                 string    `json:"name"`
	Kind                 string    `json:"kind"`
	Status               string    `json:"status"`
	OpenshiftVersion     string    `json:"openshift_version,omitempty"`
	OpenshiftClusterID   string    `json:"openshift_cluster_id,omitempty"`
	BaseDNSDomain        string    `json:"base_dns_domain,omitempty"`
	CPUArchitecture      string    `json:"cpu_architecture,omitempty"`
	HighAvailabilityMode *string   `json:"high_availability_mode,omitempty"`
	ControlPlaneCount    int64     `json:"control_plane_count,omitempty"`
	CreatedAt            time.Time `json:"created_at"`
	UserName             string    `json:"user_name,omitempty"`
}

// tellRemoval puts the end of the cluster on the timeline.
func tellRemoval(w *settle.Work, c *store.Cluster) error {
	a := c.API
	return w.ClusterEvent(c, "cluster_deregistered", wire.EventSeverityInfo, "removed", unit.Props{"cluster": removed{
		a.Name, a.Kind, a.Status, a.OpenshiftVersion, a.OpenshiftClusterID, a.BaseDNSDomain, a.CPUArchitecture, a.HighAvailabilityMode, a.ControlPlaneCount, a.CreatedAt, a.UserName,
	}})
}

// removalsPage is how many events are read at once.
const removalsPage = 200

// RemovedClusters returns what is known of clusters that were removed, the first of them
// first: all, or the one with the id. The timeline forgets them.
func (r *Registry) RemovedClusters(ctx context.Context, id string) (wire.ClusterList, error) {
	out := wire.ClusterList{}
	filter := store.EventFilter{ClusterID: id, ClusterLevel: true, Severities: []string{wire.EventSeverityInfo}, Message: ": removed", Limit: removalsPage}
	for {
		var page []store.Event
		err := r.units.View(ctx, func(w *settle.Work) (err error) {
			page, _, err = w.Reader.Events(filter)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			filter.Beyond = e.Seq
			if c, ok := clusterOf(e.Event); ok {
				out = append(out, c)
			}
		}
		if len(page) < removalsPage {
			return out, nil
		}
	}
}

// clusterOf makes the cluster of the event of its removal.
func clusterOf(e wire.Event) (wire.Cluster, bool) {
	var props struct {
		Cluster *wire.Cluster `json:"cluster"`
	}
	if e.Name != removal || e.ClusterID == nil || json.Unmarshal([]byte(e.Props), &props) != nil || props.Cluster == nil {
		return wire.Cluster{}, false
	}
	c, at := *props.Cluster, e.EventTime
	c.ID, c.Href, c.DeletedAt, c.UpdatedAt = *e.ClusterID, href(*e.ClusterID), &at, at.Time
	c.StatusInfo = "The cluster was removed"
	return c, true
}
