package fleet

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/reports"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Fleet is the hosts of the hub. All methods are safe for concurrent use.
type Fleet struct {
	units  *settle.Units
	turned turned
	// memory is asked about hosts without a record; nil where nobody knows of any.
	memory Memory
	// registering are the registrations under way.
	registering unit.Repeated[wire.HostRegistrationResponse]
	room        room
}

// New makes the fleet.
func New(units *settle.Units) *Fleet { return &Fleet{units: units} }

// Host returns one host with all of its reports.
func (f *Fleet) Host(ctx context.Context, key store.HostKey) (wire.Host, error) {
	var out wire.Host
	err := f.units.View(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
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
func (f *Fleet) Hosts(ctx context.Context, filter store.HostFilter) (wire.HostList, error) {
	out := wire.HostList{}
	err := f.units.View(ctx, func(w *settle.Work) error {
		found, err := w.Reader.Hosts(filter)
		for _, host := range found {
			f.units.Heard(host)
			out = append(out, host.API)
		}
		return err
	})
	return out, err
}

// changeable are the statuses in which a host's settings may change.
var changeable = slices.Concat(hostmachine.PreInstall, hostmachine.Pool, []string{wire.HostStatusBinding})

// UpdateHost changes the settings that are given; only before an installation.
func (f *Fleet) UpdateHost(ctx context.Context, key store.HostKey, p wire.HostUpdateParams) (wire.Host, error) {
	if err := input.CheckHost(&p); err != nil {
		return wire.Host{}, err
	}
	return f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		if !slices.Contains(changeable, host.API.Status) {
			return apierror.BadRequest("host %s cannot change while it is %s", evaluate.HostName(host), host.API.Status)
		}
		if err := takesRole(w, host, p.HostRole); err != nil {
			return err
		}
		before := unit.Text(host)
		if takesBack(host, p.DisksSelectedConfig) {
			if err := reports.FreeDisk(w, host); err != nil {
				return err
			}
		}
		if err := apply(host, &p); err != nil {
			return err
		}
		if unit.Text(host) != before {
			w.Touch(host, store.ChangedHost)
		}
		return nil
	})
}

// apply notes the settings that are given.
func apply(host *store.Host, p *wire.HostUpdateParams) error {
	wire.Set(&host.API.RequestedHostname, p.HostName)
	if p.HostRole != nil {
		takeRole(host, wire.HostRole(*p.HostRole))
	}
	wire.Set(&host.API.MachineConfigPoolName, p.MachineConfigPoolName)
	if p.NodeLabels != nil {
		labels := map[string]string{}
		for _, l := range p.NodeLabels {
			labels[l.Key] = l.Value
		}
		host.API.NodeLabels = unit.Text(labels)
	}
	selectDisk(host, p.DisksSelectedConfig)
	keepDisks(host, p.DisksSkipFormatting)
	return endpoint(host, *p)
}

// rolePools are the pools that hosts are in by their role alone.
var rolePools = []string{"", string(wire.HostRoleMaster), string(wire.HostRoleArbiter), string(wire.HostRoleWorker)}

// takeRole gives the host a role. One that joins an installed cluster has its configuration from its pool, which is that of
// the role, unless somebody has named another; that of workers without a role.
func takeRole(host *store.Host, role wire.HostRole) {
	joins := host.API.Kind == wire.HostKindAddToExistingClusterHost
	if joins && slices.Contains(rolePools, host.API.MachineConfigPoolName) {
		host.API.MachineConfigPoolName = string(wire.HostRoleWorker)
		if evaluate.IsGivenRole(role) {
			host.API.MachineConfigPoolName = string(role)
		}
	}
	host.API.Role = role
}

// selectDisk notes the disk that somebody chose. A disk that the inventory does
// not have is kept: it fails a validation instead of wiping another one.
func selectDisk(host *store.Host, disks []wire.DiskConfigParams) {
	for _, d := range disks {
		if d.Role != wire.DiskRoleInstall {
			continue
		}
		host.API.InstallationDiskID, host.API.InstallationDiskPath, host.DiskChosen = d.ID, "", true
		if inventory := evaluate.Inventory(host); inventory != nil {
			if disk := validations.FindDisk(inventory, d.ID); disk != nil {
				host.API.InstallationDiskID, host.API.InstallationDiskPath = cmp.Or(disk.ID, d.ID), disk.Path
			}
		}
	}
}

// takesBack reports whether a list of disks says no more that the host is installed to the one that somebody
// chose: it has none to install to, and names that disk, or none at all.
func takesBack(host *store.Host, disks []wire.DiskConfigParams) bool {
	if disks == nil || !host.DiskChosen {
		return false
	}
	named := len(disks) == 0
	for _, d := range disks {
		if d.Role == wire.DiskRoleInstall {
			return false
		}
		named = named || d.Role == wire.DiskRoleNone && isDisk(host, d.ID)
	}
	return named
}

// keepDisks changes the list of disks that are not formatted before the
// installation; a comma separates their ids, as clients expect.
func keepDisks(host *store.Host, disks []wire.DiskSkipFormattingParams) {
	kept := slices.DeleteFunc(strings.Split(host.API.SkipFormattingDisks, ","), func(id string) bool { return id == "" })
	for _, d := range disks {
		kept = slices.DeleteFunc(kept, func(id string) bool { return id == d.DiskID })
		if d.SkipFormatting {
			kept = append(kept, d.DiskID)
		}
	}
	host.API.SkipFormattingDisks = strings.Join(kept, ",")
}

// ApproveHost lets the host be installed, or takes that back before it is.
func (f *Fleet) ApproveHost(ctx context.Context, key store.HostKey, approved bool) error {
	_, err := f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		if host.Approved == approved {
			return nil
		}
		host.Approved = approved
		w.Touch(host, store.ChangedHost)
		answer := "no"
		if approved {
			answer = "yes"
		}
		return w.HostEvent(host, "host_approved_updated", wire.EventSeverityInfo, "approved: "+answer,
			unit.Props{"approved_value": approved})
	})
	return err
}

// DeleteHost removes the host with its logs, and its own cluster. An agent that
// still runs registers again.
func (f *Fleet) DeleteHost(ctx context.Context, key store.HostKey) error {
	return f.units.Update(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		return deleteHost(w, host)
	})
}

func deleteHost(w *settle.Work, host *store.Host) error {
	c, err := w.ClusterOf(host)
	if err != nil && !apierror.IsNotFound(err) {
		return err
	}
	if err := w.HostEvent(host, "host_deregistered", wire.EventSeverityInfo, "removed", nil); err != nil {
		return err
	}
	w.ForgetHost(host)
	if c != nil && c.Own {
		return w.RemoveCluster(c)
	}
	return nil
}

// InstallHost installs a host that joins an installed cluster.
func (f *Fleet) InstallHost(ctx context.Context, key store.HostKey) (wire.Host, error) {
	made, problem := f.units.MakeJoining(ctx, key)
	return f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		switch {
		case host.API.Kind != wire.HostKindAddToExistingClusterHost:
			return apierror.Conflict("host %s is installed with its cluster; install the cluster", evaluate.HostName(host))
		case host.API.Status != wire.HostStatusKnown:
			return w.Trigger(host, hostmachine.Install, "") // the table says why not
		case problem != nil:
			return apierror.Conflict("host %s cannot be installed: %v", evaluate.HostName(host), problem)
		}
		return w.InstallJoining(host, made)
	})
}

// ResetHost makes a host ready to begin anew with its next registration. A host
// that shares its cluster with others can be reset only after it was added to
// an installed one; the cluster is reset otherwise, unless it is installed.
func (f *Fleet) ResetHost(ctx context.Context, key store.HostKey) (wire.Host, error) {
	out, err := f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		c, err := w.ClusterOf(host)
		switch {
		case err != nil:
			return err
		case c == nil:
			return apierror.Conflict("host %s belongs to no cluster; there is nothing to reset", evaluate.HostName(host))
		case c.Own:
			return reset(w, host, c)
		case host.API.Kind == wire.HostKindAddToExistingClusterHost:
		case slices.Contains([]string{wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts}, c.API.Status):
			return apierror.Conflict("host %s was installed with cluster %s, which runs and is not installed anew: remove the host and boot it from its live image; it joins the cluster then",
				evaluate.HostName(host), c.API.Name)
		default:
			return apierror.Conflict("host %s is installed with its cluster; reset the cluster", evaluate.HostName(host))
		}
		return w.Trigger(host, hostmachine.ResettingPendingUserAction, "")
	})
	f.refused(ctx, key, err, wire.Event{Name: "host_installation_reset_failed", Message: "it cannot be reset"}, "error")
	return out, err
}

// refused puts a call about a host that was refused on the timeline, with the reason
// under the key.
func (f *Fleet) refused(ctx context.Context, key store.HostKey, why error, e wire.Event, reason string) {
	if why == nil {
		return
	}
	e.HostID, e.InfraEnvID, e.Message = &key.HostID, &key.InfraEnvID, "Host "+key.HostID+": "+e.Message
	f.units.Refused(ctx, why, e, unit.Props{reason: why.Error()})
}

// SetInstallerArgs replaces the extra arguments for coreos-installer.
func (f *Fleet) SetInstallerArgs(ctx context.Context, key store.HostKey, args []string) (wire.Host, error) {
	if err := input.CheckArguments(args); err != nil {
		return wire.Host{}, err
	}
	return f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		if !slices.Contains(changeable, host.API.Status) {
			return apierror.Conflict("host %s cannot change while it is %s", evaluate.HostName(host), host.API.Status)
		}
		host.API.InstallerArgs = ""
		if len(args) > 0 {
			host.API.InstallerArgs = unit.Text(args)
		}
		w.Touch(host, store.ChangedHost)
		return w.HostEvent(host, "host_installer_args_applied", wire.EventSeverityInfo, "has its own installer arguments", nil)
	})
}

// SetHostIgnition replaces the Ignition that is merged into the host's own; empty removes it.
func (f *Fleet) SetHostIgnition(ctx context.Context, key store.HostKey, config string) error {
	if err := input.CheckIgnition(config); err != nil {
		return err
	}
	_, err := f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		if host.API.IgnitionConfigOverrides == config {
			return nil
		}
		if slices.Contains(ignitionIsMade, host.API.Status) {
			return apierror.Conflict("host %s is %s: its Ignition is made already; reset the installation first, or change the running system", evaluate.HostName(host), host.API.Status)
		}
		host.API.IgnitionConfigOverrides = config
		w.Touch(host, store.ChangedHost)
		return w.HostEvent(host, "host_discovery_ignition_config_applied", wire.EventSeverityInfo, "has its own Ignition", nil)
	})
	return err
}

// ignitionIsMade are the statuses of hosts that get no other Ignition any more.
var ignitionIsMade = []string{
	wire.HostStatusPreparingForInstallation, wire.HostStatusPreparingSuccessful, wire.HostStatusInstalling, wire.HostStatusInstallingInProgress,
	wire.HostStatusInstallingPendingUserAction, wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster,
}
