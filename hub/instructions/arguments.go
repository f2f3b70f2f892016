package instructions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Arguments for coreos-installer.
const (
	appendKarg  = "--append-karg"
	copyNetwork = "--copy-network"
)

// driveKargs are what the installed system needs to find its root on such a drive.
var driveKargs = map[wire.DriveType][]string{
	wire.DriveTypeMultipath: {"root=/dev/disk/by-label/dm-mpath-root", "rw", "rd.multipath=default"},
	wire.DriveTypeISCSI:     {"rd.iscsi.firmware=1"},
	wire.DriveTypeRaid:      {"rd.md=1", "rd.auto=1"},
}

// mainframeKargs are beginnings of the live system's kernel arguments that the
// installed one needs as well: there, devices are found by nothing else.
var mainframeKargs = []string{"rd.znet=", "rd.dasd=", "rd.zfcp=", "zfcp.allow_lun_scan=", "ip=", "nameserver="}

// installerArgs are the arguments for coreos-installer: what the disk and the
// network of the host ask for, then what a user added. Empty for none.
func installerArgs(in Input) (string, error) {
	var given []string
	if in.Host.InstallerArgs != "" {
		if err := json.Unmarshal([]byte(in.Host.InstallerArgs), &given); err != nil {
			return "", fmt.Errorf("installer arguments of the host: %w", err)
		}
	}
	kargs := slices.Concat(in.driveArguments(), in.mainframeArguments())
	var args []string
	addressed := slices.ContainsFunc(slices.Concat(kargs, given), isNetwork)
	if !addressed {
		kargs = append(kargs, in.diskNetworkArguments(copiesNetwork(given))...)
	}
	if in.askedOfTang() {
		kargs = append(kargs, waitForNetwork)
		if !addressed {
			kargs = append(kargs, in.tangNetworkArguments(copiesNetwork(given))...)
		}
	}
	switch {
	case ownNetwork(given):
	case in.hasStaticNetworks():
		args = append(args, copyNetwork)
	case !addressed:
		kargs = append(kargs, in.dhcpArguments(kargs)...)
	}
	for _, karg := range kargs {
		if !slices.Contains(given, karg) {
			args = append(args, appendKarg, karg)
		}
	}
	args = append(args, given...)
	if len(args) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(args)
	return string(raw), err
}

// ownNetwork tells that a user says how the installed system gets its addresses.
func ownNetwork(given []string) bool {
	return copiesNetwork(given) || slices.ContainsFunc(given, isNetwork)
}

// copiesNetwork tells that a user has the installed system take over the live one's network.
func copiesNetwork(given []string) bool {
	return slices.Contains(given, copyNetwork) || slices.Contains(given, "-n")
}

func isNetwork(karg string) bool { return strings.HasPrefix(karg, "ip=") }

// hasStaticNetworks tells that the live system's network is that of a document.
func (in Input) hasStaticNetworks() bool {
	return in.InfraEnv != nil && in.InfraEnv.StaticNetworkConfig != "" && in.InfraEnv.StaticNetworkConfig != "[]"
}

func (in Input) driveArguments() []string {
	disk := in.installationDisk()
	if disk == nil {
		return nil
	}
	kargs := driveKargs[disk.DriveType]
	overISCSI := func(path *wire.Disk) bool { return path.DriveType == wire.DriveTypeISCSI }
	if disk.DriveType == wire.DriveTypeMultipath && slices.ContainsFunc(validations.Paths(disk, in.Inventory), overISCSI) {
		kargs = slices.Concat(kargs, driveKargs[wire.DriveTypeISCSI])
	}
	return kargs
}

// installationDisk is the disk to install to, nil where it is not known.
func (in Input) installationDisk() *wire.Disk {
	if in.Inventory == nil {
		return nil
	}
	return validations.FindDisk(in.Inventory, BootDevice(in.Host))
}

func (in Input) mainframeArguments() (kargs []string) {
	i := in.Inventory
	if i == nil || i.Boot == nil || i.CPU == nil || i.CPU.Architecture != wire.ClusterCPUArchitectureS390x {
		return nil
	}
	for word := range strings.FieldsSeq(i.Boot.CommandLine) {
		if slices.ContainsFunc(mainframeKargs, func(begin string) bool { return strings.HasPrefix(word, begin) }) {
			kargs = append(kargs, word)
		}
	}
	return kargs
}

// dhcpArguments have the cards in the cluster's machine networks ask for addresses:
// the first start of the installed system waits for them. A bond or a VLAN cannot be
// told that way. A card that the arguments name already is left out.
func (in Input) dhcpArguments(named []string) (kargs []string) {
	if in.Inventory == nil {
		return nil
	}
	for i := range in.Inventory.Interfaces {
		nic := &in.Inventory.Interfaces[i]
		if !isCard(nic) || slices.ContainsFunc(named, func(karg string) bool { return strings.Contains(karg, card(nic)+":") }) {
			continue
		}
		var kinds []string
		if in.inMachineNetwork(nic.Ipv4Addresses) {
			kinds = append(kinds, "dhcp")
		}
		if in.inMachineNetwork(nic.Ipv6Addresses) {
			kinds = append(kinds, "dhcp6")
		}
		if len(kinds) > 0 {
			kargs = append(kargs, dhcp(nic, kinds))
		}
	}
	return kargs
}

func (in Input) inMachineNetwork(addresses []string) bool {
	return validations.InMachineNetworks(in.Cluster.MachineNetworks, addresses)
}
