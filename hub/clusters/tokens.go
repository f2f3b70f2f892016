package clusters

import (
	"context"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// TokenGeneration returns the generation of the tokens that open the cluster; earlier ones are revoked.
func (r *Registry) TokenGeneration(ctx context.Context, clusterID string) (generation int64, err error) {
	err = r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err == nil {
			generation = max(c.TokenGeneration, 1)
		}
		return err
	})
	return generation, err
}

// RevokeClusterToken makes every token of the cluster invalid. The program inside it is refused until it
// is given another one.
func (r *Registry) RevokeClusterToken(ctx context.Context, clusterID string) (wire.Cluster, error) {
	return r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		return revoke(w, c, w.Now.UTC().Format(time.RFC3339Nano))
	})
}

// revokeFor revokes the token once for each other text.
func (spec Spec) revokeFor(w *settle.Work, c *store.Cluster) error {
	if spec.Revoke == "" || spec.Revoke == c.Revoked {
		return nil
	}
	c.Revoked = spec.Revoke
	return revoke(w, c, spec.Revoke)
}

func revoke(w *settle.Work, c *store.Cluster, text string) error {
	c.TokenGeneration = auth.Next(c.TokenGeneration, text)
	w.TouchCluster(c)
	return w.ClusterEvent(c, "cluster_token_revoked", wire.EventSeverityWarning,
		fmt.Sprintf("the token of the program inside it is revoked; give it one of generation %d", c.TokenGeneration), unit.Props{"generation": c.TokenGeneration})
}
