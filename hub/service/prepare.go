package service

import (
	"cmp"
	"maps"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/roles"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// prepare gives every host its role and proves that its Ignition can be made.
// The outcome is the cluster's last-installation-preparation.
func (w *work) prepare(c *store.Cluster, hosts []*store.Host) error {
	c.PreparedAt = w.now
	if err := w.clusterEvent(c, "cluster_prepare_installation_started", wire.EventSeverityInfo, "preparing the installation", nil); err != nil {
		return err
	}
	if err := w.assignRoles(c, hosts); err != nil {
		return err
	}
	outcome := wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusSuccess}
	for _, h := range hosts {
		w.forgetFailedImages(h)
		if _, err := w.renderIgnition(h, c); err != nil {
			outcome = wire.LastInstallationPreparation{
				Status: wire.LastInstallationPreparationStatusFailed,
				Reason: "Ignition of host " + HostName(h) + ": " + err.Error(),
			}
			break
		}
	}
	c.API.LastInstallationPreparation = outcome
	if outcome.Status != wire.LastInstallationPreparationStatusFailed {
		return nil
	}
	return w.clusterEvent(c, "prepare_installation_failed", wire.EventSeverityWarning, outcome.Reason, props{"error": outcome.Reason})
}

// forgetFailedImages has images that could not be pulled the last time checked again.
func (w *work) forgetFailedImages(h *store.Host) {
	kept := imagesOf(h)
	maps.DeleteFunc(kept, func(_ string, image wire.ContainerImageAvailability) bool {
		return image.Result == wire.ContainerImageAvailabilityResultFailure
	})
	if h.API.ImagesStatus != "" {
		h.API.ImagesStatus = mustJSON(kept)
		w.touch(h, ChangedHost)
	}
}

// renderIgnition makes the host's own configuration.
func (w *work) renderIgnition(h *store.Host, c *store.Cluster) ([]byte, error) {
	return ignition.Render(w.ctx, w.hub.ignition, ignition.Host{
		ClusterID: c.API.ID, Role: string(h.API.Role), Hostname: validations.Hostname(&h.API, inventoryOf(h)),
		SSHKey: c.API.SSHPublicKey, Override: h.API.IgnitionConfigOverrides,
	})
}

// assignRoles gives roles to the hosts that have none. The strongest master is
// the bootstrap host.
func (w *work) assignRoles(c *store.Cluster, hosts []*store.Host) error {
	found := w.assigned(c, hosts)
	bootstrap := false
	for _, h := range w.byStrength(hosts) {
		if !roles.IsGiven(h.API.Role) {
			role := cmp.Or(found[roleKey(h)], wire.HostRoleWorker)
			h.API.Role = role
			if err := w.hostEvent(h, "host_role_updated", wire.EventSeverityInfo, "its role is "+string(role), props{"suggested_role": role}); err != nil {
				return err
			}
		}
		h.API.SuggestedRole = h.API.Role
		h.API.Bootstrap = h.API.Role == wire.HostRoleMaster && !bootstrap
		bootstrap = bootstrap || h.API.Bootstrap
		h.API.ProgressStages = hostmachine.Stages(h.API.Role, h.API.Bootstrap, singleNode(c))
		w.touch(h, ChangedHost)
		if h.API.Bootstrap {
			if err := w.hostEvent(h, "host_bootstrap_set", wire.EventSeverityInfo, "it brings up the cluster", nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// byStrength sorts hosts by what they are made of, the strongest first.
func (w *work) byStrength(hosts []*store.Host) []*store.Host {
	byKey := map[string]*store.Host{}
	var all []roles.Host
	for _, h := range hosts {
		byKey[roleKey(h)] = h
		all = append(all, w.roleFacts(h))
	}
	var sorted []*store.Host
	for _, h := range roles.Strongest(all) {
		sorted = append(sorted, byKey[h.ID])
	}
	return sorted
}
