package settle

import (
	"cmp"
	"maps"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// prepare gives every host its role and has its Ignition made, to prove that it can
// be. The outcome will be the cluster's last-installation-preparation.
func (w *Work) prepare(c *store.Cluster) error {
	c.PreparedAt, c.CalledOff = w.Now, false
	c.Preparations++
	if err := w.ClusterEvent(c, "cluster_prepare_installation_started", wire.EventSeverityInfo, "preparing the installation", nil); err != nil {
		return err
	}
	hosts, err := w.HostsOf(c.API.ID)
	if err != nil {
		return err
	}
	if err := w.assignRoles(c); err != nil {
		return err
	}
	for _, h := range hosts {
		w.forgetFailedImages(h)
	}
	c.API.LastInstallationPreparation = wire.LastInstallationPreparation{}
	return w.Want(prepareJob, c.API.ID)
}

// forgetFailedImages has images that could not be pulled the last time, or not in time,
// checked again.
func (w *Work) forgetFailedImages(h *store.Host) {
	kept := evaluate.ImageResults(h)
	maps.DeleteFunc(kept, func(_ string, image wire.ContainerImageAvailability) bool {
		return validations.ImageFailed(image)
	})
	if h.API.ImagesStatus != "" {
		h.API.ImagesStatus = unit.Text(kept)
		w.Touch(h, store.ChangedHost)
	}
}

// assignRoles gives roles to the hosts that have none. The strongest master is
// the bootstrap host, unless the hub runs on one of the hosts: then it is that.
func (w *Work) assignRoles(c *store.Cluster) error {
	g, err := w.group(c)
	if err != nil {
		return err
	}
	found := w.Roles(c, g.Members)
	bootstrap := false
	for _, key := range evaluate.Strongest(g.Members) {
		h, _ := w.Peek(key) // all of them were read
		if !evaluate.IsGivenRole(h.API.Role) {
			role := cmp.Or(found[key], wire.HostRoleWorker)
			h.API.Role = role
			if err := w.HostEvent(h, "host_role_updated", wire.EventSeverityInfo, "its role is "+string(role), unit.Props{"suggested_role": role}); err != nil {
				return err
			}
		}
		h.API.SuggestedRole = h.API.Role
		h.API.Bootstrap = h.API.Role == wire.HostRoleMaster && !bootstrap && (w.NodeZero.MAC == "" || w.NodeZero.Is(h))
		h.Last = w.NodeZero.Is(h) && c.API.OpenshiftVersion == "" && len(g.Members) > 1
		bootstrap = bootstrap || h.API.Bootstrap
		h.API.ProgressStages = evaluate.Stages(c, h)
		w.Touch(h, store.ChangedHost)
		if h.API.Bootstrap {
			if err := w.HostEvent(h, "host_bootstrap_set", wire.EventSeverityInfo, "it brings up the cluster", nil); err != nil {
				return err
			}
		}
	}
	return nil
}
