package clusters

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// StartInstallation starts a ready cluster. Otherwise it is refused with 409
// and what is missing.
func (r *Registry) StartInstallation(ctx context.Context, clusterID string) (wire.Cluster, error) {
	return r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if c.API.Status != wire.ClusterStatusReady {
			return apierror.Conflict("cluster %s is %s, not ready: %s", c.API.Name, c.API.Status, c.API.StatusInfo)
		}
		c.Preparations = 0 // a person does not wait for the next try
		return w.TriggerCluster(c, clustermachine.Prepare)
	})
}

// HoldCluster keeps a cluster from being installed until it is ensured the next time: what
// its object asks for by now is not what the hub has.
func (r *Registry) HoldCluster(ctx context.Context, clusterID string) (wire.Cluster, error) {
	return r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if c.Hold || !before(c.API.Status) {
			return nil
		}
		c.Hold = true
		w.TouchCluster(c)
		return nil
	})
}

// HoldStray keeps those from being installed that an object has asked for which is not there any more, as
// there tells: it was taken elsewhere, or deleted while its hosts are to stay. An object that comes
// back releases its cluster.
func (r *Registry) HoldStray(ctx context.Context, there func(id string) bool) error {
	var stray []string
	err := r.units.View(ctx, func(w *settle.Work) error {
		all, err := w.Reader.Clusters(store.ClusterFilter{Statuses: clustermachine.Open})
		for _, c := range all {
			if c.AutoInstall && !c.Own && !c.Hold && before(c.API.Status) && !there(c.API.ID) {
				stray = append(stray, c.API.ID)
			}
		}
		return err
	})
	for _, id := range stray {
		if _, failure := r.HoldCluster(ctx, id); failure != nil && !apierror.IsNotFound(failure) {
			err = errors.Join(err, failure)
		}
	}
	return err
}

// CancelInstallation calls an installation off.
func (r *Registry) CancelInstallation(ctx context.Context, clusterID string) (wire.Cluster, error) {
	out, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		return w.TriggerCluster(c, clustermachine.Cancel)
	})
	r.refused(ctx, clusterID, err, wire.Event{Name: "cancel_installation_failed", Message: "the installation cannot be called off"})
	return out, err
}

// refused puts a call about a cluster that was refused on the timeline.
func (r *Registry) refused(ctx context.Context, clusterID string, why error, e wire.Event) {
	if why == nil {
		return
	}
	e.ClusterID, e.Message = &clusterID, "Cluster "+clusterID+": "+e.Message
	r.units.Refused(ctx, why, e, unit.Props{"error": why.Error()})
}

// ResetCluster makes a cluster ready to be installed anew; its hosts have to
// register again.
func (r *Registry) ResetCluster(ctx context.Context, clusterID string) (wire.Cluster, error) {
	out, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if err := w.TriggerCluster(c, clustermachine.Reset); err != nil {
			return err
		}
		return w.ClusterEvent(c, "cluster_installation_reset", wire.EventSeverityInfo, "the installation is to be done anew", nil)
	})
	r.refused(ctx, clusterID, err, wire.Event{Name: "reset_installation_failed", Message: "it cannot be reset"})
	return out, err
}

// ResetDeserted resets a cluster that none of its hosts is left of. The hosts of one whose record was made anew
// may still come back, so it stays as it is.
func (r *Registry) ResetDeserted(ctx context.Context, clusterID string) (wire.Cluster, error) {
	var awaited *store.Cluster
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err == nil && c.HostsAwaited {
			awaited = c
		}
		return err
	})
	switch {
	case err != nil:
		return wire.Cluster{}, err
	case awaited != nil:
		return awaited.API, nil
	}
	return r.ResetCluster(ctx, clusterID)
}

// AllowAddHosts turns an installed cluster into one that takes more hosts.
func (r *Registry) AllowAddHosts(ctx context.Context, clusterID string) (wire.Cluster, error) {
	return r.units.Cluster(ctx, clusterID, TakeMoreHosts)
}

// TakeMoreHosts turns an installed cluster into one that takes more hosts.
func TakeMoreHosts(w *settle.Work, c *store.Cluster) error {
	if err := w.TriggerCluster(c, clustermachine.ToAddingHosts); err != nil {
		return err
	}
	nameAPI(c)
	return nil
}

// nameAPI says where hosts that join have their configuration from, unless somebody has said it.
func nameAPI(c *store.Cluster) {
	if wire.Value(c.API.APIVIPDNSName) == "" {
		c.API.APIVIPDNSName = new(evaluate.APIName(&c.API))
	}
}

// Opened has a cluster take a new host. One that a resource describes is turned into one
// that takes more hosts when the first of them comes, because nobody makes a call for it.
func Opened(w *settle.Work, c *store.Cluster) error {
	if c.AutoInstall && !c.Own && c.API.Status == wire.ClusterStatusInstalled {
		return TakeMoreHosts(w, c)
	}
	return nil
}

// DeleteCluster removes a cluster that is not being installed. Hosts of its own
// infra-env go with it, others return to the pool.
func (r *Registry) DeleteCluster(ctx context.Context, id string) error {
	err := r.units.Update(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(id)
		if err != nil {
			return err
		}
		if c.API.Status == wire.ClusterStatusInstalling {
			return apierror.Conflict("cluster %s is being installed; cancel the installation first", c.API.Name)
		}
		hosts, err := w.HostsOf(id)
		if err != nil {
			return err
		}
		for _, host := range hosts {
			if err := leaveDeleted(w, host, c); err != nil {
				return err
			}
		}
		if err := tellRemoval(w, c); err != nil {
			return err
		}
		return w.RemoveCluster(c)
	})
	r.refused(ctx, id, err, wire.Event{Name: "cluster_deregister_failed", Message: "it cannot be removed"})
	return err
}

func leaveDeleted(w *settle.Work, host *store.Host, c *store.Cluster) error {
	env, err := w.Env(host.API.InfraEnvID)
	if err != nil && !apierror.IsNotFound(err) {
		return err
	}
	if env == nil || env.API.ClusterID == c.API.ID || c.Own {
		w.ForgetHost(host)
		return nil
	}
	if err := w.TryTrigger(host, hostmachine.Unbind, "its cluster was removed"); err != nil {
		return err
	}
	settle.ClearBinding(&host.API)
	w.Touch(host, store.ChangedHost)
	return nil
}

// IgnoredValidations returns the validations that are shown but not waited for.
func (r *Registry) IgnoredValidations(ctx context.Context, clusterID string) (wire.IgnoredValidations, error) {
	c, err := r.Cluster(ctx, clusterID, false)
	return wire.IgnoredValidations{ClusterValidationIDs: c.IgnoredClusterValidations, HostValidationIDs: c.IgnoredHostValidations}, err
}

// SetIgnoredValidations replaces the list of validations that are not waited for.
func (r *Registry) SetIgnoredValidations(ctx context.Context, clusterID string, v wire.IgnoredValidations) (wire.IgnoredValidations, error) {
	lists := [2][]string{}
	for i, text := range []string{v.HostValidationIDs, v.ClusterValidationIDs} {
		if text != "" && json.Unmarshal([]byte(text), &lists[i]) != nil {
			return v, apierror.BadRequest("ignored validations: want JSON lists of ids in text")
		}
	}
	if err := validations.CheckIgnored(lists[0], lists[1]); err != nil {
		return v, apierror.BadRequest("ignored validations: %v", err)
	}
	_, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if !slices.Contains(clustermachine.Open, c.API.Status) {
			return apierror.BadRequest("cluster %s cannot change while it is %s", c.API.Name, c.API.Status)
		}
		c.API.IgnoredClusterValidations, c.API.IgnoredHostValidations = v.ClusterValidationIDs, v.HostValidationIDs
		w.TouchCluster(c)
		return w.ClusterEvent(c, "validations_ignored", wire.EventSeverityInfo, "some validations are ignored", nil)
	})
	return v, err
}
