package settle

import (
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/installconfig"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// InstallConfig is the install-config.yaml of the cluster with its hosts.
func (w *Work) InstallConfig(c *store.Cluster) ([]byte, error) {
	hosts, err := w.HostsOf(c.API.ID)
	if err != nil {
		return nil, err
	}
	secret, err := w.units.Made().PullSecret(c)
	if err != nil {
		return nil, apierror.Conflict("install-config of cluster %s: %v", c.API.Name, err)
	}
	given := installconfig.Cluster{API: c.API, PullSecret: secret, Masters: c.Masters, Arbiters: c.Arbiters}
	workers := 0
	for _, h := range hosts {
		given.API.Hosts = append(given.API.Hosts, h.API)
		if h.API.Role == wire.HostRoleWorker {
			workers++
		}
	}
	given.Workers = max(c.Workers, workers)
	return installconfig.Render(given)
}
