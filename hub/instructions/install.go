package instructions

import (
	"errors"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/installerimage"
	"github.com/ironflow/ironflow/hub/releases/versions"
	"github.com/ironflow/ironflow/hub/wire"
)

// skipReboot is the first release whose installer can spare the restart by the
// machine-config operator.
const skipReboot = "4.15"

func buildInstall(in Input) ([]string, error) {
	device := BootDevice(in.Host)
	if in.Cluster == nil || device == "" {
		return nil, errors.New("no cluster or no installation disk is chosen")
	}
	args, err := installerArgs(in)
	if err != nil {
		return nil, err
	}
	request := wire.InstallCmdRequest{
		ClusterID: in.Cluster.ID, InfraEnvID: in.Host.InfraEnvID, HostID: in.Host.ID,
		Role: in.Host.Role, BootDevice: device, InstallerArgs: args,
		ControllerImage: in.Images.Controller, InstallerImage: in.Images.Installer,
		McoImage: in.Images.MachineConfig, MustGatherImage: in.Images.MustGather,
		OpenshiftVersion: in.Cluster.OpenshiftVersion, ControlPlaneCount: in.Cluster.ControlPlaneCount,
		CheckCvo: new(false), NotifyNumReboots: in.TellReboots && in.Cluster.OpenshiftVersion != "",
		EnableSkipMcoReboot: in.sparesReboot(), SkipInstallationDiskCleanup: strings.Contains(args, "--save-part"),
	}
	if in.Host.Bootstrap {
		request.Role = wire.HostRoleBootstrap
	}
	if in.runsFromDisk() && !in.ownInstaller() {
		request.CoreosImage = in.Images.CoreOS
	}
	format, _ := OtherDisks(in.Host, in.Inventory, in.Cluster)
	for _, d := range format {
		request.DisksToFormat = append(request.DisksToFormat, d.ID)
	}
	if in.Cluster.HTTPProxy != "" || in.Cluster.HTTPSProxy != "" {
		request.Proxy = &wire.Proxy{HTTPProxy: &in.Cluster.HTTPProxy, HTTPSProxy: &in.Cluster.HTTPSProxy, NoProxy: &in.Cluster.NoProxy}
	}
	return encode(request)
}

// ownInstaller tells that the order is for our own agent's installer, which writes whole
// disks by coreos-installer, and refuses an order for anything else.
func (in Input) ownInstaller() bool {
	return installerimage.Own(in.Images.Installer, in.Host.DiscoveryAgentVersion)
}

// runsFromDisk tells that the host's live system is one that was installed before, which
// an installer can install into.
func (in Input) runsFromDisk() bool {
	return in.Inventory != nil && in.Inventory.Boot != nil && in.Inventory.Boot.DeviceType == wire.BootDeviceTypePersistent
}

// sparesReboot tells that the installer is to write the wanted system at once.
func (in Input) sparesReboot() bool {
	if in.ownInstaller() {
		return false
	}
	version := in.Cluster.OpenshiftVersion
	mainframe := in.Inventory != nil && in.Inventory.CPU != nil && in.Inventory.CPU.Architecture == wire.ClusterCPUArchitectureS390x
	return version != "" && !versions.Older(version, skipReboot) && !mainframe &&
		!strings.HasPrefix(in.Host.InstallationDiskPath, "/dev/dm-")
}

// untouched are the types of drives that are never formatted beside the installation
// disk: those that other machines may use as well, and logical volumes, one of which may
// be the disk of a virtual machine and look as if it could be booted from.
var untouched = []wire.DriveType{wire.DriveTypeFc, wire.DriveTypeISCSI, wire.DriveTypeMultipath, wire.DriveTypeLvm}

// OtherDisks returns the disks beside the one to install to that the firmware could
// start from: those that lose what is on them, so that it does not, and those that
// somebody wants to keep. Of a cluster without a release, of drives that other machines
// may use, and of what is part of something else, nothing is taken. inventory may be nil.
func OtherDisks(h *wire.Host, inventory *wire.Inventory, c *wire.Cluster) (format, keep []wire.Disk) {
	if inventory == nil || c == nil || c.OpenshiftVersion == "" {
		return nil, nil
	}
	kept := strings.Split(h.SkipFormattingDisks, ",")
	for _, d := range inventory.Disks {
		mine := BootDevice(h)
		switch {
		case d.ID == "" || !d.Bootable || d.Removable || d.IsInstallationMedia || d.Holders != "" || slices.Contains(untouched, d.DriveType) ||
			strings.Contains(d.Path, "mmcblk") || mine == d.ID || mine == d.Path || mine == d.ByID:
		case slices.ContainsFunc(kept, func(id string) bool { return id != "" && slices.Contains([]string{d.ID, d.Path, d.ByID, d.ByPath}, id) }):
			keep = append(keep, d)
		default:
			format = append(format, d)
		}
	}
	return format, keep
}
