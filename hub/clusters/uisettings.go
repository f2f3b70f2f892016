package clusters

import (
	"context"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
)

// maxUISettings bounds what a console may keep in a cluster's record, in bytes.
const maxUISettings = 64 << 10

// UISettings returns what a console keeps with the cluster, word for word.
func (r *Registry) UISettings(ctx context.Context, clusterID string) (string, error) {
	var out string
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err == nil {
			out = c.UISettings
		}
		return err
	})
	return out, err
}

// SetUISettings replaces it.
func (r *Registry) SetUISettings(ctx context.Context, clusterID, settings string) (string, error) {
	if len(settings) > maxUISettings {
		return "", apierror.BadRequest("ui-settings are larger than %d bytes", maxUISettings)
	}
	_, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		c.UISettings = settings
		w.TouchCluster(c)
		return nil
	})
	return settings, err
}
