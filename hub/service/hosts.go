package service

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Host returns one host with all of its reports.
func (h *Hub) Host(ctx context.Context, key store.HostKey) (wire.Host, error) {
	var out wire.Host
	err := h.view(ctx, func(r *store.Reader) error {
		host, err := newWork(ctx, h, r).host(key)
		if err != nil {
			return err
		}
		out = host.API
		return nil
	})
	return out, err
}

// Hosts returns the selected hosts. Filter.Bare leaves inventories and other
// reports out.
func (h *Hub) Hosts(ctx context.Context, filter store.HostFilter) (wire.HostList, error) {
	out := wire.HostList{}
	err := h.view(ctx, func(r *store.Reader) error {
		found, err := r.Hosts(filter)
		for _, host := range found {
			h.heard(host)
			out = append(out, host.API)
		}
		return err
	})
	return out, err
}

// changeable are the statuses in which a host's settings may change.
var changeable = slices.Concat(hostmachine.PreInstall, hostmachine.Pool, []string{wire.HostStatusBinding})

// hostAction changes one host and returns it.
func (h *Hub) hostAction(ctx context.Context, key store.HostKey, act func(*work, *store.Host) error) (wire.Host, error) {
	var out wire.Host
	err := h.update(ctx, func(w *work) error {
		host, err := w.host(key)
		if err != nil {
			return err
		}
		if err := act(w, host); err != nil {
			return err
		}
		if err := w.settle(); err != nil {
			return err
		}
		out = host.API
		return nil
	})
	return out, err
}

// UpdateHost changes the settings that are given; only before an installation.
func (h *Hub) UpdateHost(ctx context.Context, key store.HostKey, p wire.HostUpdateParams) (wire.Host, error) {
	return h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		if !slices.Contains(changeable, host.API.Status) {
			return badRequest("host %s cannot change while it is %s", HostName(host), host.API.Status)
		}
		before := mustJSON(host)
		if p.HostName != nil {
			if !validations.ValidHostname(*p.HostName) {
				return badRequest("host_name %q: want lower-case letters, digits, dots and dashes, and no name that every host has", *p.HostName)
			}
			host.API.RequestedHostname = *p.HostName
		}
		if p.HostRole != nil {
			if !slices.Contains([]string{"auto-assign", "master", "arbiter", "worker"}, *p.HostRole) {
				return badRequest("host_role %q: want auto-assign, master, arbiter or worker", *p.HostRole)
			}
			host.API.Role = wire.HostRole(*p.HostRole)
		}
		set(&host.API.MachineConfigPoolName, p.MachineConfigPoolName)
		if p.NodeLabels != nil {
			labels := map[string]string{}
			for _, l := range p.NodeLabels {
				labels[l.Key] = l.Value
			}
			host.API.NodeLabels = mustJSON(labels)
		}
		if err := selectDisk(host, p.DisksSelectedConfig); err != nil {
			return err
		}
		keepDisks(host, p.DisksSkipFormatting)
		if mustJSON(host) != before {
			w.touch(host, ChangedHost)
		}
		return nil
	})
}

// selectDisk notes the disk that somebody chose. A disk that the inventory does
// not have is kept: it fails a validation instead of wiping another one.
func selectDisk(host *store.Host, disks []wire.DiskConfigParams) error {
	for _, d := range disks {
		if d.ID == "" {
			return badRequest("disks_selected_config: id is required")
		}
		if d.Role != wire.DiskRoleInstall {
			continue
		}
		host.API.InstallationDiskID, host.API.InstallationDiskPath, host.DiskChosen = d.ID, "", true
		if inventory := inventoryOf(host); inventory != nil {
			if disk := validations.FindDisk(inventory, d.ID); disk != nil {
				host.API.InstallationDiskID, host.API.InstallationDiskPath = cmp.Or(disk.ID, d.ID), disk.Path
			}
		}
	}
	return nil
}

// ApproveHost lets the host be installed, or takes that back before it is.
func (h *Hub) ApproveHost(ctx context.Context, key store.HostKey, approved bool) error {
	_, err := h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		if host.Approved == approved {
			return nil
		}
		host.Approved = approved
		w.touch(host, ChangedHost)
		return w.hostEvent(host, "host_approved_updated", wire.EventSeverityInfo, "approved: "+map[bool]string{true: "yes", false: "no"}[approved],
			props{"approved_value": approved})
	})
	return err
}

// DeleteHost removes the host with its logs, and its own cluster. An agent that
// still runs registers again.
func (h *Hub) DeleteHost(ctx context.Context, key store.HostKey) error {
	return h.update(ctx, func(w *work) error {
		host, err := w.host(key)
		if err != nil {
			return err
		}
		return w.deleteHost(host)
	})
}

func (w *work) deleteHost(host *store.Host) error {
	c, err := w.clusterOf(host)
	if err != nil && !IsNotFound(err) {
		return err
	}
	if err := w.hostEvent(host, "host_deregistered", wire.EventSeverityInfo, "removed", nil); err != nil {
		return err
	}
	w.forgetHost(host)
	w.after = append(w.after, func() error { return w.hub.removeFile(hostLogs(host.Key())) })
	if c != nil && c.Own {
		w.forgetCluster(c)
	}
	return nil
}

// InstallHost installs a host that joins an installed cluster.
func (h *Hub) InstallHost(ctx context.Context, key store.HostKey) (wire.Host, error) {
	return h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		if host.API.Kind != wire.HostKindAddToExistingClusterHost {
			return conflict("host %s is installed with its cluster; install the cluster", HostName(host))
		}
		if err := w.trigger(host, hostmachine.Install, ""); err != nil {
			return err
		}
		return w.hostEvent(host, "host_installation_started", wire.EventSeverityInfo, "the installation starts", nil)
	})
}

// ResetHost makes a host ready to begin anew with its next registration. A host
// that shares its cluster with others can be reset only after it was added to
// an installed one; reset the cluster otherwise.
func (h *Hub) ResetHost(ctx context.Context, key store.HostKey) (wire.Host, error) {
	return h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		c, err := w.clusterOf(host)
		switch {
		case err != nil:
			return err
		case c == nil:
			return conflict("host %s belongs to no cluster; there is nothing to reset", HostName(host))
		case c.Own:
			return w.reset(host, c)
		case host.API.Kind != wire.HostKindAddToExistingClusterHost:
			return conflict("host %s is installed with its cluster; reset the cluster", HostName(host))
		}
		return w.trigger(host, hostmachine.ResettingPendingUserAction, "")
	})
}

// argFlags are the installer arguments that a user may give.
var argFlags = []string{
	"--append-karg", "--delete-karg", "-n", "--copy-network", "--network-dir", "--save-partlabel", "--save-partindex", "--image-url", "--image-file",
}

// SetInstallerArgs replaces the extra arguments for coreos-installer.
func (h *Hub) SetInstallerArgs(ctx context.Context, key store.HostKey, args []string) (wire.Host, error) {
	if err := checkInstallerArgs(args); err != nil {
		return wire.Host{}, err
	}
	return h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		if !slices.Contains(changeable, host.API.Status) {
			return conflict("host %s cannot change while it is %s", HostName(host), host.API.Status)
		}
		host.API.InstallerArgs = ""
		if len(args) > 0 {
			host.API.InstallerArgs = mustJSON(args)
		}
		w.touch(host, ChangedHost)
		return w.hostEvent(host, "host_installer_args_applied", wire.EventSeverityInfo, "has its own installer arguments", nil)
	})
}

func checkInstallerArgs(args []string) error {
	for _, a := range args {
		switch {
		case len(a) > 0 && a[0] == '-':
			if !slices.Contains(argFlags, a) {
				return badRequest("installer argument %s is not allowed; allowed are %v", a, argFlags)
			}
		case !argValueForm.MatchString(a):
			return badRequest("installer argument %q holds characters that are not allowed", a)
		}
	}
	return nil
}

// SetHostIgnition replaces the Ignition that is merged into the host's own; empty removes it.
func (h *Hub) SetHostIgnition(ctx context.Context, key store.HostKey, config string) error {
	if err := ignition.Valid(config); err != nil {
		return badRequest("config: %v", err)
	}
	if config != "" && !json.Valid([]byte(config)) {
		return badRequest("config is not JSON")
	}
	_, err := h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		if host.API.IgnitionConfigOverrides == config {
			return nil
		}
		host.API.IgnitionConfigOverrides = config
		w.touch(host, ChangedHost)
		return w.hostEvent(host, "host_discovery_ignition_config_applied", wire.EventSeverityInfo, "has its own Ignition", nil)
	})
	return err
}
