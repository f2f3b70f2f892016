package agents

import (
	"context"
	"encoding/json"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// recover gives the hub back what it has lost with its store, as far as the Agent
// knows it. made is false where the host has to come back by itself, or was
// removed from the hub.
func (r *reconciler) recover(ctx context.Context, agent *agentv1.Agent, env *agentv1.InfraEnv) (made bool, err error) {
	lost, err := r.lost(ctx, agent)
	if err != nil {
		return false, err
	}
	made, err = r.hub.RecoverHost(ctx, hubid.Host(env, agent), lost)
	if service.IsNotFound(err) {
		return false, reconcile.WaitFor(lookAgain, "the hub to know InfraEnv %s and the cluster again: it has lost its store", env.Name)
	}
	if err != nil {
		return false, &reconcile.Unavailable{What: "the hub's store", Err: err}
	}
	return made, nil
}

// putBack tells the hub, whose record of the host is that of a backup, what the Agent has seen since. Until it
// has heard it, the Agent shows what it showed: it is all that tells that the host was installed. An
// installation that ran at the backup and runs still goes on.
func (r *reconciler) putBack(ctx context.Context, agent *agentv1.Agent, env *agentv1.InfraEnv, view service.HostView) error {
	known := service.LostHost{}
	if hostmachine.Overtaken(view.Status, lastState(agent)) {
		var err error
		if known, err = r.lost(ctx, agent); err != nil {
			return reconcile.WaitFor(lookAgain, "the host, whose record in the hub is that of a backup, to be what its Agent says: %v", err)
		}
	}
	_, err := r.hub.RecoverHost(ctx, hubid.Host(env, agent), known)
	if service.IsNotFound(err) {
		return reconcile.WaitFor(lookAgain, "the hub to know the cluster of the Agent again: its records are those of a backup")
	}
	if err != nil {
		return &reconcile.Unavailable{What: "the hub's store", Err: err}
	}
	return nil
}

// lost is what the Agent knows of its host.
func (r *reconciler) lost(ctx context.Context, agent *agentv1.Agent) (service.LostHost, error) {
	status, spec := shown(agent), &agent.Spec
	out := service.LostHost{Approved: spec.Approved, Since: agent.CreationTimestamp.Time, EnvBirth: agent.Annotations[names.SeenIn], Signing: signing(status.CSRStatus)}
	if image := agent.Annotations[names.ImageOf]; image == names.ImageOfAll {
		out.Shared = true
	} else {
		out.Machine = image
	}
	var err error
	if out.ClusterID, err = r.wantedCluster(ctx, agent); err != nil {
		return out, err
	}
	if out.Asked, out.Token, err = r.asked(ctx, agent); err != nil {
		out.Asked = service.HostSettings{} // what is not whole is handed over when it is
	}
	role := spec.Role
	if role == "" || role == string(wire.HostRoleAutoAssign) {
		role = status.Role // what it was installed as, whatever would be chosen for it now
	}
	known := wire.Host{
		Status: status.DebugInfo.State, Bootstrap: status.Bootstrap,
		RequestedHostname: spec.Hostname, Role: wire.HostRole(role), SuggestedRole: wire.HostRole(status.Role),
		MachineConfigPoolName: spec.MachineConfigPool, InstallationDiskID: status.InstallationDiskID,
		IgnitionConfigOverrides: spec.IgnitionConfigOverrides,
	}
	if args, err := installerArgs(agent); err == nil && len(args) > 0 {
		known.InstallerArgs = text(args)
	}
	if len(spec.NodeLabels) > 0 {
		known.NodeLabels = text(spec.NodeLabels)
	}
	found := reported(&status.Inventory)
	known.Inventory = text(found)
	for _, d := range found.Disks {
		if d.ID == known.InstallationDiskID {
			known.InstallationDiskPath = d.Path
		}
	}
	if p := status.Progress; p != nil {
		known.Progress = &wire.HostProgressInfo{
			CurrentStage: wire.HostStage(p.CurrentStage), ProgressInfo: p.ProgressInfo, InstallationPercentage: p.InstallationPercentage,
		}
		for _, s := range p.ProgressStages {
			known.ProgressStages = append(known.ProgressStages, wire.HostStage(s))
		}
	}
	out.Known = known
	return out, nil
}

// text is what the hub keeps as JSON in text.
func text(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return "" // lists, maps and structs of texts and numbers always can be
	}
	return string(raw)
}

// reported is the inventory in the form in which hosts report it.
func reported(in *agentv1.HostInventory) wire.Inventory {
	out := wire.Inventory{
		Hostname: in.Hostname, BmcAddress: in.BmcAddress, BmcV6address: in.BmcV6address,
		Memory: &wire.Memory{PhysicalBytes: in.Memory.PhysicalBytes, UsableBytes: in.Memory.UsableBytes},
		CPU: &wire.CPU{
			Count: in.Cpu.Count, Frequency: float64(in.Cpu.ClockMegahertz), Flags: in.Cpu.Flags, ModelName: in.Cpu.ModelName, Architecture: in.Cpu.Architecture,
		},
		Boot: &wire.Boot{CurrentBootMode: in.Boot.CurrentBootMode, PXEInterface: in.Boot.PxeInterface, DeviceType: in.Boot.DeviceType},
		SystemVendor: &wire.SystemVendor{
			SerialNumber: in.SystemVendor.SerialNumber, ProductName: in.SystemVendor.ProductName,
			Manufacturer: in.SystemVendor.Manufacturer, Virtual: in.SystemVendor.Virtual,
		},
	}
	for _, n := range in.Interfaces {
		out.Interfaces = append(out.Interfaces, wire.Interface{
			Name: n.Name, MACAddress: n.MacAddress, Ipv4Addresses: n.IPV4Addresses, Ipv6Addresses: n.IPV6Addresses, Flags: n.Flags,
			HasCarrier: n.HasCarrier, MTU: n.Mtu, SpeedMbps: n.SpeedMbps, Vendor: n.Vendor, Product: n.Product, ClientID: n.ClientId, Biosdevname: n.BiosDevName,
		})
	}
	for _, d := range in.Disks {
		out.Disks = append(out.Disks, reportedDisk(d))
	}
	for _, g := range in.Gpus {
		out.GPUs = append(out.GPUs, wire.Gpu{Address: g.Address, DeviceID: g.DeviceID, Name: g.Name, Vendor: g.Vendor, VendorID: g.VendorID})
	}
	return out
}

func reportedDisk(d agentv1.HostDisk) wire.Disk {
	out := wire.Disk{
		ID: d.ID, Name: d.Name, Path: d.Path, ByPath: d.ByPath, ByID: d.ByID, DriveType: wire.DriveType(d.DriveType), SizeBytes: d.SizeBytes,
		Vendor: d.Vendor, Model: d.Model, Serial: d.Serial, WWN: d.Wwn, HCTL: d.Hctl, Bootable: d.Bootable, Smart: d.Smart,
		InstallationEligibility: wire.DiskInstallationEligibility{
			Eligible: d.InstallationEligibility.Eligible, NotEligibleReasons: d.InstallationEligibility.NotEligibleReasons,
		},
	}
	if d.IoPerf.SyncDurationMilliseconds != 0 {
		out.IoPerf = &wire.IoPerf{SyncDuration: d.IoPerf.SyncDurationMilliseconds}
	}
	return out
}
