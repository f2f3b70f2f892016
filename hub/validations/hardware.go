package validations

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

func minimumCPUs(in HostInput) verdict { return enoughCPUs(in, in.Minimum.CPUs, "") }

func roleCPUs(in HostInput) verdict {
	return enoughCPUs(in, in.Needs.CPUs, roleText(in)+operatorsText(in.Cluster != nil && in.Needs.CPUs > in.Release.CPUs))
}

func minimumMemory(in HostInput) verdict { return enoughMemory(in, in.Minimum.MemoryMiB, "") }

func roleMemory(in HostInput) verdict {
	return enoughMemory(in, in.Needs.MemoryMiB, roleText(in)+operatorsText(in.Cluster != nil && in.Needs.MemoryMiB > in.Release.MemoryMiB))
}

// operatorsText says that operators are among what needs it.
func operatorsText(they bool) string {
	if they {
		return " with its operators"
	}
	return ""
}

func roleText(in HostInput) string {
	if role := in.Role(); role != "" {
		return " as " + string(role)
	}
	return ""
}

func enoughCPUs(in HostInput, needed int64, role string) verdict {
	var have int64
	if in.Inventory.CPU != nil {
		have = in.Inventory.CPU.Count
	}
	if have < needed {
		return fail("The host has %d CPUs, %d are needed%s; use a larger machine", have, needed, role)
	}
	return pass("The host has %d CPUs, %d are needed%s", have, needed, role)
}

// memoryTolerance is what firmware and kernel may keep for themselves, in MiB.
const memoryTolerance = 100

func enoughMemory(in HostInput, needed int64, role string) verdict {
	var have int64
	accepted := needed - memoryTolerance
	if m := in.Inventory.Memory; m != nil {
		have = m.PhysicalBytes >> 20
		if m.PhysicalBytesMethod == wire.MemoryMethodMeminfo {
			accepted -= needed * 2 / 100
		}
	}
	if have < accepted {
		return fail("The host has %d MiB of memory, %d MiB are needed%s; use a larger machine", have, needed, role)
	}
	return pass("The host has %d MiB of memory, %d MiB are needed%s", have, needed, role)
}

var hostnameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?([.][a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

const maxHostname = 63

// ForbiddenNames are names that every host has.
var ForbiddenNames = []string{"localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6", "localhost6.localdomain6"}

// Hostname returns the name that the host will have.
func Hostname(h *wire.Host, inventory *wire.Inventory) string {
	if h.RequestedHostname != "" || inventory == nil {
		return h.RequestedHostname
	}
	return inventory.Hostname
}

// ValidHostname reports whether a host may have the name.
func ValidHostname(name string) bool {
	return hostnameForm.MatchString(name) && len(name) <= maxHostname && !slices.Contains(ForbiddenNames, name)
}

func hostnameValid(in HostInput) verdict {
	if name := in.Name(); !ValidHostname(name) {
		return fail("Hostname %q is not valid; set one of lower-case letters, digits, dots and dashes with at most %d characters", name, maxHostname)
	}
	return pass("Hostname %s is valid", in.Name())
}

func hostnameUnique(in HostInput) verdict {
	if in.Cluster.Names[in.Name()] > 1 {
		return fail("Hostname %s is used by another host of the cluster; set another one", in.Name())
	}
	return pass("Hostname %s is unique in the cluster", in.Name())
}

// makers are the machines that a platform consists of, by a part of the maker's name.
var makers = map[wire.PlatformType]string{wire.PlatformTypeVsphere: "VMware", wire.PlatformTypeNutanix: "Nutanix"}

func platformFits(in HostInput) verdict {
	platform := in.Cluster.Platform()
	maker := ""
	if v := in.Inventory.SystemVendor; v != nil {
		maker = v.Manufacturer
	}
	if wanted, limited := makers[platform]; limited && !strings.Contains(maker, wanted) {
		return fail("A machine of %q does not run on platform %s; use a machine of %s, or change the cluster's platform", maker, platform, wanted)
	}
	return pass("The machine can be part of platform %s", platform)
}

// Encrypts tells whether the disks of hosts of the role are to be encrypted.
func Encrypts(e *wire.DiskEncryption, role wire.HostRole) bool {
	if e == nil || e.EnableOn == nil {
		return false
	}
	on := *e.EnableOn
	return on == wire.DiskEncryptionEnableOnAll || slices.Contains(strings.Split(on, ","), string(role)+"s")
}

func encryptionPossible(in HostInput) verdict {
	e := in.Cluster.Cluster.DiskEncryption
	if cpu := in.Inventory.CPU; cpu != nil && cpu.Architecture == wire.ClusterCPUArchitectureS390x {
		return fail("Disk encryption is not done on s390x, whose disks need not have a partition that is called root; change the cluster's disk encryption")
	}
	if disk := FindDisk(in.Inventory, in.Host.InstallationDiskID); disk != nil && disk.DriveType == wire.DriveTypeMultipath {
		return fail("Disk encryption is not done on a multipath device, one path of which would be encrypted; choose another disk, or change the cluster's disk encryption")
	}
	if e.Mode != nil && *e.Mode == wire.DiskEncryptionModeTang {
		return tangReached(in)
	}
	if have := in.Inventory.TPMVersion; have != wire.InventoryTPMVersion20 {
		return fail("Disk encryption needs a TPM 2.0, the host has %q; switch it on in the firmware, or change the cluster's disk encryption", have)
	}
	return pass("The host has a TPM 2.0")
}

func tangReached(in HostInput) verdict {
	switch {
	case in.Host.TangConnectivity == "":
		return wait("Waiting for the host to ask the Tang servers")
	case in.Tang == nil: // an agent whose check failed says why in words
		return fail("The host could not ask the Tang servers: %s; fix the connection to them, or change the cluster's disk encryption", in.Host.TangConnectivity)
	}
	if !opensAtEachStart(in) {
		return fail("The host reaches its machine networks by no card that kernel arguments can name, but by a bond or VLAN, so its disk would not be opened " +
			"from the second start on; add installer arguments with ip=, or change the cluster's disk encryption")
	}
	return passIf(in.Tang.IsSuccess, "All Tang servers answer",
		"A Tang server does not answer the host; fix the connection to it, or change the cluster's disk encryption")
}

// opensAtEachStart tells that the host's network can be up before there is a root file
// system: by a card in a machine network, as a user says, or by whatever card there is.
func opensAtEachStart(in HostInput) bool {
	networks := in.Cluster.Cluster.MachineNetworks
	if len(networks) == 0 || strings.Contains(in.Host.InstallerArgs, `"ip=`) {
		return true
	}
	return slices.ContainsFunc(in.Inventory.Interfaces, func(nic wire.Interface) bool {
		return (nic.Type == "" || nic.Type == "physical") && InMachineNetworks(networks, slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses))
	})
}
