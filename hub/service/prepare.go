package service

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/ignition"
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

// assignRoles gives roles to the hosts that have none: the strongest become
// masters, then arbiters, then workers. The first master is the bootstrap host.
func (w *work) assignRoles(c *store.Cluster, hosts []*store.Host) error {
	free := map[wire.HostRole]int{wire.HostRoleMaster: c.Masters, wire.HostRoleArbiter: c.Arbiters}
	for _, h := range hosts {
		if given(h.API.Role) {
			free[h.API.Role]--
		}
	}
	bootstrap := false
	for _, h := range byStrength(hosts) {
		if !given(h.API.Role) {
			role := wire.HostRoleWorker
			for _, r := range []wire.HostRole{wire.HostRoleMaster, wire.HostRoleArbiter} {
				if free[r] > 0 {
					role = r
					free[r]--
					break
				}
			}
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

func given(role wire.HostRole) bool { return role != "" && role != wire.HostRoleAutoAssign }

// byStrength sorts hosts by CPUs, then memory, the strongest first; hosts with
// an accelerator come last, they make better workers.
func byStrength(hosts []*store.Host) []*store.Host {
	sorted := slices.Clone(hosts)
	inventories := map[*store.Host]*wire.Inventory{}
	for _, h := range sorted {
		if inventories[h] = inventoryOf(h); inventories[h] == nil {
			inventories[h] = &wire.Inventory{}
		}
	}
	strength := func(h *store.Host) (gpus int, cpus, memory int64) {
		i := inventories[h]
		if i.CPU != nil {
			cpus = i.CPU.Count
		}
		if i.Memory != nil {
			memory = i.Memory.PhysicalBytes
		}
		return len(i.GPUs), cpus, memory
	}
	slices.SortStableFunc(sorted, func(a, b *store.Host) int {
		ga, ca, ma := strength(a)
		gb, cb, mb := strength(b)
		return cmp.Or(cmp.Compare(ga, gb), cmp.Compare(cb, ca), cmp.Compare(mb, ma))
	})
	return sorted
}
