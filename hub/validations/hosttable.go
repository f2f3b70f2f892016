package validations

import (
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Hosts that a check applies to.
var (
	anyHost     = Condition[HostInput]{"any host", func(HostInput) bool { return true }}
	inCluster   = Condition[HostInput]{"in a cluster", func(in HostInput) bool { return in.Cluster != nil }}
	withRelease = Condition[HostInput]{"in a cluster with a release", func(in HostInput) bool { return in.Cluster != nil && in.Cluster.Release() }}
	dayOne      = Condition[HostInput]{"in a cluster with a release that is not installed yet", func(in HostInput) bool {
		return withRelease.holds(in) && !in.Cluster.DayTwo()
	}}
	several = Condition[HostInput]{"in a cluster with a release and several hosts that is not installed yet", func(in HostInput) bool {
		return dayOne.holds(in) && !in.Cluster.SingleNode()
	}}
	dayTwo = Condition[HostInput]{"in an installed cluster with a release", func(in HostInput) bool {
		return withRelease.holds(in) && in.Cluster.DayTwo()
	}}
	ownNames = Condition[HostInput]{"in a cluster with a release and several hosts whose names or load balancer are the user's", func(in HostInput) bool {
		return several.holds(in) && (in.Cluster.UserManaged() || in.Cluster.Platform() == wire.PlatformTypeNone || in.Cluster.userBalances())
	}}
	pinnedAgent = Condition[HostInput]{"if the hub wants one version of the agent", func(in HostInput) bool { return in.AgentImage != "" }}
	keepsDisks  = Condition[HostInput]{"if disks are not to be formatted", func(in HostInput) bool {
		return in.Cluster != nil && in.Host.SkipFormattingDisks != ""
	}}
	encrypted = Condition[HostInput]{"if the disks of its role are to be encrypted", func(in HostInput) bool {
		return in.Cluster != nil && Encrypts(in.Cluster.Cluster.DiskEncryption, in.Role())
	}}
	onVSphere = Condition[HostInput]{"in a cluster on vSphere", func(in HostInput) bool {
		return in.Cluster != nil && in.Cluster.Platform() == wire.PlatformTypeVsphere
	}}
)

// HostRows is the table of checks of a host. A host's status depends on nothing else.
var HostRows = slices.Concat(presenceRows, hardwareRows, diskRows, networkRows, connectivityRows, nameRows, hostOperatorRows())

var presenceRows = []HostRow{
	{
		ID: wire.HostValidationIDConnected, Category: network, Group: Presence, When: anyHost, Essential: true, check: connected,
		Checks: "the agent polls: at least every 3 minutes, a bootstrap host every 5", Do: "check the host's network and power",
	},
	{
		ID: wire.HostValidationIDMediaConnected, Category: network, Group: Presence, When: anyHost, check: mediaConnected,
		Checks: "the agent can read its boot medium", Do: "attach the medium and reboot the host",
	},
	{
		ID: wire.HostValidationIDHasInventory, Category: hardware, Group: Presence, When: anyHost, Essential: true, check: hasInventory,
		Checks: "the host has sent an inventory that can be read, and no other machine has its id",
		Do:     "wait; if none comes, look at the agent's log. Of two machines, switch one off, or give it another board serial number",
	},
	{
		ID: wire.HostValidationIDInventoryNotFullyTruncated, Category: hardware, Group: Presence, When: anyHost, NeedsInventory: true, Essential: true, check: notFullyTruncated,
		Checks: "the inventory was small enough to be sent", Do: "give the agent a smaller list of disks (`--disk-min-size`)",
	},
	{
		ID: wire.HostValidationIDInventoryNotPartiallyTruncated, Category: hardware, Group: Warning, When: anyHost, NeedsInventory: true, check: notPartiallyTruncated,
		Checks: "nothing of the inventory was left out", Do: "nothing, unless a disk that is needed is missing",
	},
}

var hardwareRows = []HostRow{
	{
		ID: wire.HostValidationIDHasMinCPUCores, Category: hardware, Group: Hardware, When: anyHost, NeedsInventory: true, check: minimumCPUs,
		Checks: "CPUs for any role", Do: "use a machine with more CPUs",
	},
	{
		ID: wire.HostValidationIDHasMinMemory, Category: hardware, Group: Hardware, When: anyHost, NeedsInventory: true, check: minimumMemory,
		Checks: "memory for any role; 100 MiB less are accepted, and 2 % less where only the kernel's figure is known", Do: "use a machine with more memory",
	},
	{
		ID: wire.HostValidationIDHasCPUCoresForRole, Category: hardware, Group: Other, When: withRelease, NeedsInventory: true, check: roleCPUs,
		Checks: "CPUs for its role", Do: "give the host another role, or use a machine with more CPUs",
	},
	{
		ID: wire.HostValidationIDHasMemoryForRole, Category: hardware, Group: Other, When: withRelease, NeedsInventory: true, check: roleMemory,
		Checks: "memory for its role, with the same tolerance", Do: "give the host another role, or use a machine with more memory",
	},
	{
		ID: wire.HostValidationIDHostnameValid, Category: hardware, Group: Other, When: anyHost, NeedsInventory: true, Essential: true, check: hostnameValid,
		Checks: "the name has at most 63 lower-case letters, digits, dots and dashes, and is not one that every host has", Do: "set another name",
	},
	{
		ID: wire.HostValidationIDHostnameUnique, Category: hardware, Group: Other, When: inCluster, NeedsInventory: true, Essential: true, check: hostnameUnique,
		Checks: "no other host of the cluster has the name", Do: "set another name",
	},
	{
		ID: wire.HostValidationIDCompatibleWithClusterPlatform, Category: hardware, Group: Hardware, When: withRelease, NeedsInventory: true, check: platformFits,
		Checks: "a cluster on vSphere or Nutanix has machines of that platform", Do: "use such a machine, or change the cluster's platform",
	},
	{
		ID: wire.HostValidationIDDiskEncryptionRequirementsSatisfied, Category: hardware, Group: Hardware, When: encrypted, NeedsInventory: true, check: encryptionPossible,
		Checks: "tpmv2: the host has a TPM 2.0; tang: it reaches all Tang servers, by a card that kernel arguments can name; not on s390x or a multipath device", Do: "switch the TPM on in the firmware, fix the connection to the servers, or change the cluster's disk encryption",
	},
	{
		ID: wire.HostValidationIDCompatibleAgent, Category: hardware, Group: Other, When: pinnedAgent, check: agentFits,
		Checks: "the agent is the version that the hub wants", Do: "wait for its upgrade, or boot the host's current live image",
	},
}

var diskRows = []HostRow{
	{
		ID: wire.HostValidationIDHasMinValidDisks, Category: hardware, Group: Hardware, When: anyHost, NeedsInventory: true, check: hasDisk,
		Checks: "a disk can be installed to, and the chosen one is there", Do: "add a disk or choose another one; the inventory says of each disk why it does not count",
	},
	{
		ID: wire.HostValidationIDSufficientInstallationDiskSpeed, Category: hardware, Group: Other, When: inCluster, NeedsInventory: true, check: diskFast,
		Checks: "the 99th percentile of a sync of the installation disk", Do: "choose a faster disk, or have it measured again",
	},
	{
		ID: wire.HostValidationIDVsphereDiskUUIDEnabled, Category: hardware, Group: Other, When: onVSphere, NeedsInventory: true, check: disksHaveUUID,
		Checks: "vSphere shows the disks with an id", Do: "set `disk.EnableUUID` to TRUE on the virtual machine",
	},
	{
		ID: wire.HostValidationIDNoSkipInstallationDisk, Category: hardware, Group: Other, When: keepsDisks, NeedsInventory: true, check: formatsInstallationDisk,
		Checks: "the installation disk is not among the disks to keep", Do: "choose another installation disk, or have this one formatted",
	},
	{
		ID: wire.HostValidationIDNoSkipMissingDisk, Category: hardware, Group: Other, When: keepsDisks, NeedsInventory: true, check: keptDisksExist,
		Checks: "the disks to keep are there", Do: "correct the list: a disk that is meant may have another name by now, and would be formatted",
	},
}
