package service

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// StartInstallation starts a ready cluster. Otherwise it is refused with 409
// and what is missing.
func (h *Hub) StartInstallation(ctx context.Context, clusterID string) (wire.Cluster, error) {
	return h.clusterAction(ctx, clusterID, func(w *work, c *store.Cluster) error {
		if c.API.Status != wire.ClusterStatusReady {
			return conflict("cluster %s is %s, not ready: %s", c.API.Name, c.API.Status, c.API.StatusInfo)
		}
		return w.triggerCluster(c, clustermachine.Prepare)
	})
}

// CancelInstallation calls an installation off.
func (h *Hub) CancelInstallation(ctx context.Context, clusterID string) (wire.Cluster, error) {
	return h.clusterAction(ctx, clusterID, func(w *work, c *store.Cluster) error {
		return w.triggerCluster(c, clustermachine.Cancel)
	})
}

// ResetCluster makes a cluster ready to be installed anew; its hosts have to
// register again.
func (h *Hub) ResetCluster(ctx context.Context, clusterID string) (wire.Cluster, error) {
	return h.clusterAction(ctx, clusterID, func(w *work, c *store.Cluster) error {
		if err := w.triggerCluster(c, clustermachine.Reset); err != nil {
			return err
		}
		return w.clusterEvent(c, "cluster_installation_reset", wire.EventSeverityInfo, "the installation is to be done anew", nil)
	})
}

// AllowAddHosts turns an installed cluster into one that takes more hosts.
func (h *Hub) AllowAddHosts(ctx context.Context, clusterID string) (wire.Cluster, error) {
	return h.clusterAction(ctx, clusterID, func(w *work, c *store.Cluster) error {
		if err := w.triggerCluster(c, clustermachine.ToAddingHosts); err != nil {
			return err
		}
		c.API.APIVIPDNSName = new("api." + c.API.Name + "." + c.API.BaseDNSDomain)
		return nil
	})
}

func (h *Hub) clusterAction(ctx context.Context, id string, act func(*work, *store.Cluster) error) (wire.Cluster, error) {
	var out wire.Cluster
	err := h.update(ctx, func(w *work) error {
		c, err := w.cluster(id)
		if err != nil {
			return err
		}
		if err := act(w, c); err != nil {
			return err
		}
		if err := w.settle(); err != nil {
			return err
		}
		out = c.API
		return nil
	})
	return out, err
}

// DeleteCluster removes a cluster that is not being installed. Hosts of its own
// infra-env go with it, others return to the pool.
func (h *Hub) DeleteCluster(ctx context.Context, id string) error {
	return h.update(ctx, func(w *work) error {
		c, err := w.cluster(id)
		if err != nil {
			return err
		}
		if c.API.Status == wire.ClusterStatusInstalling {
			return conflict("cluster %s is being installed; cancel the installation first", c.API.Name)
		}
		hosts, err := w.hostsOf(id)
		if err != nil {
			return err
		}
		for _, host := range hosts {
			if err := w.leaveDeleted(host, c); err != nil {
				return err
			}
		}
		if err := w.clusterEvent(c, "cluster_deregistered", wire.EventSeverityInfo, "removed", nil); err != nil {
			return err
		}
		w.forgetCluster(c)
		return nil
	})
}

func (w *work) leaveDeleted(host *store.Host, c *store.Cluster) error {
	env, err := w.env(host.API.InfraEnvID)
	if err != nil && !IsNotFound(err) {
		return err
	}
	if env == nil || env.API.ClusterID == c.API.ID || c.Own {
		w.forgetHost(host)
		return nil
	}
	if err := w.tryTrigger(host, hostmachine.Unbind, "its cluster was removed"); err != nil {
		return err
	}
	clearBinding(&host.API)
	w.touch(host, ChangedHost)
	return nil
}

// IgnoredValidations returns the validations that are shown but not waited for.
func (h *Hub) IgnoredValidations(ctx context.Context, clusterID string) (wire.IgnoredValidations, error) {
	c, err := h.Cluster(ctx, clusterID, false)
	return wire.IgnoredValidations{ClusterValidationIDs: c.IgnoredClusterValidations, HostValidationIDs: c.IgnoredHostValidations}, err
}

// SetIgnoredValidations replaces the list of validations that are not waited for.
func (h *Hub) SetIgnoredValidations(ctx context.Context, clusterID string, v wire.IgnoredValidations) (wire.IgnoredValidations, error) {
	lists := [2][]string{}
	for i, text := range []string{v.HostValidationIDs, v.ClusterValidationIDs} {
		if text != "" && json.Unmarshal([]byte(text), &lists[i]) != nil {
			return v, badRequest("ignored validations: want JSON lists of ids in text")
		}
	}
	if err := validations.CheckIgnored(lists[0], lists[1]); err != nil {
		return v, badRequest("ignored validations: %v", err)
	}
	_, err := h.clusterAction(ctx, clusterID, func(w *work, c *store.Cluster) error {
		if !slices.Contains(clustermachine.Open, c.API.Status) {
			return badRequest("cluster %s cannot change while it is %s", c.API.Name, c.API.Status)
		}
		c.API.IgnoredClusterValidations, c.API.IgnoredHostValidations = v.ClusterValidationIDs, v.HostValidationIDs
		w.touchCluster(c)
		return w.clusterEvent(c, "validations_ignored", wire.EventSeverityInfo, "some validations are ignored", nil)
	})
	return v, err
}
