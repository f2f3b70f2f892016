package clusters

import (
	"context"

	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// GiveCluster notes whose the cluster is.
func (r *Registry) GiveCluster(ctx context.Context, id, owner string) (wire.Cluster, error) {
	return r.units.Cluster(ctx, id, func(w *settle.Work, c *store.Cluster) error {
		c.API.UserName = owner
		w.TouchCluster(c)
		return nil
	})
}
