package clusters

import (
	"context"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// ImportCluster makes known a cluster that somebody else installed, so that hosts
// can be added to it.
func (r *Registry) ImportCluster(ctx context.Context, p wire.ImportClusterParams) (wire.Cluster, error) {
	switch {
	case p.APIVIPDnsname == "":
		return wire.Cluster{}, apierror.BadRequest("api_vip_dnsname is required: the name or address of the cluster's API")
	case uuid.Validate(p.OpenshiftClusterID) != nil:
		return wire.Cluster{}, apierror.BadRequest("openshift_cluster_id %.80q is not a UUID", p.OpenshiftClusterID)
	}
	return r.register(ctx, func(record *store.Cluster) error {
		c := &record.API
		c.Kind, c.Status, c.StatusInfo = wire.ClusterKindAddHostsCluster, wire.ClusterStatusAddingHosts, "Hosts can be added"
		c.Name, c.OpenshiftVersion, c.OpenshiftClusterID = p.Name, p.OpenshiftVersion, p.OpenshiftClusterID
		c.APIVIPDNSName, c.Imported = new(p.APIVIPDnsname), new(true)
		return input.CheckCluster(nil, given(record, ""))
	})
}

// CreateDisconnectedCluster makes a cluster that is installed where this hub does
// not reach: it is there for images only, and nothing of it is watched.
func (r *Registry) CreateDisconnectedCluster(ctx context.Context, p wire.DisconnectedClusterCreateParams) (wire.Cluster, error) {
	if p.OpenshiftVersion == "" {
		return wire.Cluster{}, apierror.BadRequest("openshift_version is required")
	}
	return r.register(ctx, func(record *store.Cluster) error {
		c := &record.API
		c.Kind, c.Status, c.StatusInfo = wire.ClusterKindDisconnectedCluster, wire.ClusterStatusUnmonitored, "The cluster is installed elsewhere"
		c.Name, c.OpenshiftVersion = p.Name, p.OpenshiftVersion
		return input.CheckCluster(nil, given(record, ""))
	})
}

// register stores a new cluster. What it answers has the status that every new cluster
// begins with; what it comes to at once is seen by whoever asks for it.
func (r *Registry) register(ctx context.Context, fill func(*store.Cluster) error) (wire.Cluster, error) {
	var out wire.Cluster
	err := r.units.Update(ctx, func(w *settle.Work) error {
		c := New(w, uuid.NewString())
		if err := fill(c); err != nil {
			return err
		}
		w.NoteOperators(c)
		w.TouchCluster(c)
		if err := registered(w, c); err != nil {
			return err
		}
		first, info := c.API.Status, c.API.StatusInfo
		if err := w.Settle(); err != nil {
			return err
		}
		out = c.API
		out.Status, out.StatusInfo = first, info
		return nil
	})
	return out, err
}

func registered(w *settle.Work, c *store.Cluster) error {
	return w.ClusterEvent(c, "cluster_registration_succeeded", wire.EventSeverityInfo, "registered", unit.Props{"cluster_kind": c.API.Kind})
}
