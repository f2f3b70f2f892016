package fleet

import (
	"context"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// BindHost gives an unbound host to a cluster; its agent registers again for it.
func (f *Fleet) BindHost(ctx context.Context, key store.HostKey, clusterID string) (wire.Host, error) {
	out, err := f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		c, err := w.Cluster(clusterID)
		switch {
		case clusterID == "":
			return apierror.Missing("cluster_id", "want the id of a cluster")
		case apierror.IsNotFound(err):
			return apierror.BadRequest("there is no cluster %s", clusterID)
		case err != nil:
			return err
		case host.ClusterID() == clusterID:
			return apierror.Conflict("host %s belongs to cluster %s already", evaluate.HostName(host), c.API.Name)
		case host.ClusterID() != "":
			return apierror.Conflict("host %s belongs to another cluster; unbind it first", evaluate.HostName(host))
		}
		if err := clusters.Opened(w, c); err != nil {
			return err
		}
		if !slices.Contains(clustermachine.Open, c.API.Status) {
			return apierror.Conflict("cluster %s takes no new hosts: it is %s", c.API.Name, c.API.Status)
		}
		if err := fitsArchitecture(host, c); err != nil {
			return err
		}
		if err := fitsRole(host.API.Role, c); err != nil {
			return err
		}
		if err := w.Trigger(host, hostmachine.Bind, ""); err != nil {
			return err
		}
		join(host, c)
		host.Pooled = false
		w.Touch(host, store.ChangedHost)
		return w.HostEvent(host, "host_bind_succeeded", wire.EventSeverityInfo, "bound to cluster "+c.API.Name, nil)
	})
	f.refused(ctx, key, err, wire.Event{Name: "host_bind_failed", Message: "it cannot be bound"}, "message")
	return out, err
}

func fitsArchitecture(host *store.Host, c *store.Cluster) error {
	inventory := evaluate.Inventory(host)
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
		return apierror.BadRequest("host %s has architecture %s, cluster %s needs %s", evaluate.HostName(host), inventory.CPU.Architecture, c.API.Name, c.API.CPUArchitecture)
	}
	return nil
}

// UnbindHost returns a host to the pool; only while it is not being installed.
func (f *Fleet) UnbindHost(ctx context.Context, key store.HostKey) (wire.Host, error) {
	out, err := f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		env, err := w.Env(key.InfraEnvID)
		switch {
		case err != nil:
			return err
		case host.ClusterID() == "":
			return apierror.Conflict("host %s belongs to no cluster", evaluate.HostName(host))
		case env.API.ClusterID != "":
			return apierror.Conflict("infra-env %s belongs to a cluster as a whole; its hosts cannot leave it", env.API.Name)
		case slices.Contains(slices.Concat(hostmachine.Preparing, hostmachine.Installing), host.API.Status):
			return apierror.Conflict("host %s is %s; cancel the installation first", evaluate.HostName(host), host.API.Status)
		}
		return unbind(w, host)
	})
	f.refused(ctx, key, err, wire.Event{Name: "host_unbind_failed", Message: "it cannot be unbound"}, "message")
	return out, err
}

// reclaimable are the statuses in which a host may be reclaimed.
var reclaimable = slices.Concat(hostmachine.PreInstall, []string{
	wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster, wire.HostStatusError, wire.HostStatusCancelled,
})

// leaving is how a host leaves its cluster: where an agent runs inside it, an installed
// host is booted back into its live image, with nobody's help.
func leaving(w *settle.Work, host *store.Host) string {
	if w.Reclaim && slices.Contains(reclaimable, host.API.Status) {
		return hostmachine.Reclaim
	}
	return hostmachine.Unbind
}

// unbind takes the host out of its cluster; its own cluster ends with that.
func unbind(w *settle.Work, host *store.Host) error {
	c, err := w.ClusterOf(host)
	if err != nil {
		return err
	}
	if err := w.Trigger(host, leaving(w, host), ""); err != nil {
		return err
	}
	w.LookAt(c.API.ID)
	settle.ClearBinding(&host.API)
	host.API.Progress, host.API.Bootstrap, host.API.Connectivity, host.API.ImagesStatus = nil, false, "", ""
	host.API.LogsInfo, host.API.LogsStartedAt, host.API.LogsCollectedAt = "", wire.DateTime{}, wire.DateTime{}
	host.DiskChosen, host.Pooled, host.Signing = false, true, store.Signing{}
	w.Touch(host, store.ChangedHost)
	if c.Own {
		if err := w.RemoveCluster(c); err != nil {
			return err
		}
	}
	return w.HostEvent(host, "host_unbind_succeeded", wire.EventSeverityInfo, "returned to the pool", nil)
}
