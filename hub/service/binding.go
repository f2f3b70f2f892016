package service

import (
	"context"
	"slices"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// BindHost gives an unbound host to a cluster; its agent registers again for it.
func (h *Hub) BindHost(ctx context.Context, key store.HostKey, clusterID string) (wire.Host, error) {
	return h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		c, err := w.cluster(clusterID)
		switch {
		case IsNotFound(err):
			return badRequest("there is no cluster %s", clusterID)
		case err != nil:
			return err
		case host.ClusterID() == clusterID:
			return conflict("host %s belongs to cluster %s already", HostName(host), c.API.Name)
		case host.ClusterID() != "":
			return conflict("host %s belongs to another cluster; unbind it first", HostName(host))
		case !slices.Contains(clustermachine.Open, c.API.Status):
			return conflict("cluster %s takes no new hosts: it is %s", c.API.Name, c.API.Status)
		}
		if err := fitsArchitecture(host, c); err != nil {
			return err
		}
		if err := w.trigger(host, hostmachine.Bind, ""); err != nil {
			return err
		}
		w.join(host, c)
		host.Pooled = false
		w.touch(host, ChangedHost)
		return w.hostEvent(host, "host_bind_succeeded", wire.EventSeverityInfo, "bound to cluster "+c.API.Name, nil)
	})
}

func fitsArchitecture(host *store.Host, c *store.Cluster) error {
	inventory := inventoryOf(host)
	if inventory == nil || inventory.CPU == nil || c.API.CPUArchitecture == "" || c.API.CPUArchitecture == wire.ClusterCPUArchitectureMulti {
		return nil
	}
	same := func(a string) string {
		if a == wire.ClusterCPUArchitectureArm64 {
			return wire.ClusterCPUArchitectureAarch64
		}
		return a
	}
	if same(inventory.CPU.Architecture) != same(c.API.CPUArchitecture) {
		return badRequest("host %s has architecture %s, cluster %s needs %s", HostName(host), inventory.CPU.Architecture, c.API.Name, c.API.CPUArchitecture)
	}
	return nil
}

// UnbindHost returns a host to the pool; only while it is not being installed.
func (h *Hub) UnbindHost(ctx context.Context, key store.HostKey) (wire.Host, error) {
	return h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		env, err := w.env(key.InfraEnvID)
		switch {
		case err != nil:
			return err
		case host.ClusterID() == "":
			return conflict("host %s belongs to no cluster", HostName(host))
		case env.API.ClusterID != "":
			return conflict("infra-env %s belongs to a cluster as a whole; its hosts cannot leave it", env.API.Name)
		case slices.Contains(slices.Concat(hostmachine.Preparing, hostmachine.Installing), host.API.Status):
			return conflict("host %s is %s; cancel the installation first", HostName(host), host.API.Status)
		}
		return w.unbind(host)
	})
}

// unbind takes the host out of its cluster; its own cluster ends with that.
func (w *work) unbind(host *store.Host) error {
	c, err := w.clusterOf(host)
	if err != nil {
		return err
	}
	if err := w.trigger(host, hostmachine.Unbind, ""); err != nil {
		return err
	}
	w.dirtyClusters[c.API.ID] = true
	clearBinding(&host.API)
	host.API.Progress, host.API.Bootstrap, host.API.Connectivity, host.API.ImagesStatus = nil, false, "", ""
	host.API.LogsInfo, host.API.LogsStartedAt, host.API.LogsCollectedAt = "", wire.DateTime{}, wire.DateTime{}
	host.DiskChosen, host.Pooled = false, true
	w.touch(host, ChangedHost)
	if c.Own {
		w.forgetCluster(c)
	}
	return w.hostEvent(host, "host_unbind_succeeded", wire.EventSeverityInfo, "returned to the pool", nil)
}
