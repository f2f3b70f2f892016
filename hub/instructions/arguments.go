package instructions

import (
	"encoding/json"
	"fmt"
	"net/netip"
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
	switch own := ownNetwork(given); {
	case own:
	case in.InfraEnv != nil && in.InfraEnv.StaticNetworkConfig != "" && in.InfraEnv.StaticNetworkConfig != "[]":
		args = append(args, copyNetwork)
	case !slices.ContainsFunc(kargs, isNetwork):
		kargs = append(kargs, in.dhcpArguments()...)
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
	return slices.Contains(given, copyNetwork) || slices.Contains(given, "-n") || slices.ContainsFunc(given, isNetwork)
}

func isNetwork(karg string) bool { return strings.HasPrefix(karg, "ip=") }

func (in Input) driveArguments() []string {
	if in.Inventory == nil {
		return nil
	}
	disk := validations.FindDisk(in.Inventory, BootDevice(in.Host))
	if disk == nil {
		return nil
	}
	kargs := driveKargs[disk.DriveType]
	overISCSI := func(d wire.Disk) bool {
		return d.DriveType == wire.DriveTypeISCSI && slices.Contains(strings.Split(d.Holders, ","), disk.Name)
	}
	if disk.DriveType == wire.DriveTypeMultipath && slices.ContainsFunc(in.Inventory.Disks, overISCSI) {
		kargs = slices.Concat(kargs, driveKargs[wire.DriveTypeISCSI])
	}
	return kargs
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
// told that way.
func (in Input) dhcpArguments() (kargs []string) {
	if in.Inventory == nil {
		return nil
	}
	for _, nic := range in.Inventory.Interfaces {
		if nic.MACAddress == "" || nic.Type != "" && nic.Type != "physical" {
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
			kargs = append(kargs, "ip="+strings.ReplaceAll(strings.ToLower(nic.MACAddress), ":", "-")+":"+strings.Join(kinds, ","))
		}
	}
	return kargs
}

func (in Input) inMachineNetwork(addresses []string) bool {
	return slices.ContainsFunc(in.Cluster.MachineNetworks, func(n wire.MachineNetwork) bool {
		network, err := netip.ParsePrefix(string(n.CIDR))
		return err == nil && slices.ContainsFunc(addresses, func(text string) bool {
			a, err := netip.ParsePrefix(text)
			return err == nil && network.Contains(a.Addr())
		})
	})
}
