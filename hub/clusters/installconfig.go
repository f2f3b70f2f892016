package clusters

import (
	"context"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// InstallConfig returns the install-config.yaml that the cluster would be installed
// with. It holds the pull secret.
func (r *Registry) InstallConfig(ctx context.Context, clusterID string) (string, error) {
	var text []byte
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		text, err = w.InstallConfig(c)
		return err
	})
	return string(text), err
}

// SetInstallConfig replaces the overrides that are merged into the install-config
// last; empty removes them.
func (r *Registry) SetInstallConfig(ctx context.Context, clusterID, overrides string) error {
	if err := input.CheckOverrides(overrides); err != nil {
		return err
	}
	_, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if c.API.Kind != wire.ClusterKindCluster || !slices.Contains(clustermachine.Open, c.API.Status) {
			return apierror.BadRequest("the install-config of cluster %s cannot change: it is %s", c.API.Name, c.API.Status)
		}
		c.API.InstallConfigOverrides = overrides
		w.TouchCluster(c)
		return w.ClusterEvent(c, "install_config_applied", wire.EventSeverityInfo, "its install-config was changed by a user", nil)
	})
	return err
}
