package instructions

import (
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Waits of the protocol, and ours while something is about to happen.
const (
	Normal    = 60 * time.Second
	BackedOff = 120 * time.Second
	// Soon is for hosts whose next step only waits for the hub.
	Soon = 2 * time.Second
	// Attentive is for hosts that wait for a person or for other hosts.
	Attentive = 10 * time.Second
)

// row is what a host in a status is told.
type row struct {
	steps []wire.StepType
	wait  time.Duration
	// hurried is the wait while the host is on its way to an installation.
	hurried time.Duration
	// exit ends the agent's loop, so that it registers again.
	exit bool
}

// Short names of the step types, for the tables.
const (
	inventory     = wire.StepTypeInventory
	connectivity  = wire.StepTypeConnectivityCheck
	freeAddresses = wire.StepTypeFreeNetworkAddresses
	tang          = wire.StepTypeTangConnectivityCheck
	ntp           = wire.StepTypeNTPSynchronizer
	domains       = wire.StepTypeDomainResolution
	verifyVIPs    = wire.StepTypeVerifyVIPs
	apiVIP        = wire.StepTypeAPIVIPConnectivityCheck
	diskSpeed     = wire.StepTypeInstallationDiskSpeedCheck
	images        = wire.StepTypeContainerImageAvailability
	install       = wire.StepTypeInstall
	stop          = wire.StepTypeStopInstallation
	logs          = wire.StepTypeLogsGather
	bootArtifacts = wire.StepTypeDownloadBootArtifacts
	reclaimReboot = wire.StepTypeRebootForReclaim
	upgrade       = wire.StepTypeUpgradeAgent
	dhcpLease     = wire.StepTypeDHCPLeaseAllocate
)

// destructive are the steps that write to a host's disks, or that end what runs from them.
var destructive = []wire.StepType{install, diskSpeed, bootArtifacts, reclaimReboot}

// Destructive tells that a step costs what is on a disk, or what runs from it: an order
// for it must not be handed out once it was called off.
func Destructive(t wire.StepType) bool { return slices.Contains(destructive, t) }

// Recurring are the checks that hosts are asked for again and again, also when their results are known: asking later
// costs nothing but how old a result gets. A lease of an address is none of them: it ends.
var Recurring = []wire.StepType{inventory, connectivity, freeAddresses, tang, ntp, domains, verifyVIPs, apiVIP}

// upgradable are the statuses in which an agent may be told to make way for another one.
var upgradable = []string{
	wire.HostStatusDiscovering, wire.HostStatusInsufficient, wire.HostStatusKnown, wire.HostStatusPendingForInput,
	wire.HostStatusDiscoveringUnbound, wire.HostStatusInsufficientUnbound, wire.HostStatusKnownUnbound,
}

func steps(types ...wire.StepType) []wire.StepType { return types }

// dayOne is the table for hosts of a cluster that is not installed yet.
var dayOne = map[string]row{
	wire.HostStatusDiscovering:     {steps(inventory), Normal, Soon, false},
	wire.HostStatusKnown:           {steps(connectivity, tang, freeAddresses, dhcpLease, inventory, ntp, domains, verifyVIPs), Normal, Soon, false},
	wire.HostStatusInsufficient:    {steps(inventory, connectivity, tang, freeAddresses, dhcpLease, ntp, domains, verifyVIPs), Normal, Attentive, false},
	wire.HostStatusPendingForInput: {steps(inventory, connectivity, tang, freeAddresses, dhcpLease, ntp, domains, verifyVIPs), Normal, Attentive, false},
	wire.HostStatusDisconnected:    {steps(inventory), BackedOff, Attentive, false},

	wire.HostStatusPreparingForInstallation: {steps(dhcpLease, diskSpeed, images), Normal, Soon, false},
	wire.HostStatusPreparingSuccessful:      {nil, Normal, Soon, false},
	wire.HostStatusPreparingFailed:          {nil, Normal, Attentive, false},
	wire.HostStatusInstalling:               {steps(install, dhcpLease), Normal, Attentive, false},
	wire.HostStatusInstallingInProgress:     {steps(dhcpLease), Normal, Normal, false},
	wire.HostStatusDisabled:                 {nil, BackedOff, BackedOff, false},
	wire.HostStatusResetting:                {nil, BackedOff, BackedOff, false},
	wire.HostStatusError:                    {steps(logs, stop), BackedOff, BackedOff, false},
	wire.HostStatusCancelled:                {steps(logs, stop), BackedOff, BackedOff, false},
	// A reset in the middle of an installation: it must not go on to a disk that is booted.
	wire.HostStatusResettingPendingUserAction: {steps(stop), Normal, Attentive, false},
	wire.HostStatusBinding:                    {nil, 0, 0, true},
}

// dayTwo is the table for hosts that are added to an installed cluster.
var dayTwo = map[string]row{
	wire.HostStatusDiscovering:          {steps(inventory, ntp, domains), Normal, Soon, false},
	wire.HostStatusKnown:                {steps(connectivity, apiVIP, tang, inventory, ntp, domains), Normal, Soon, false},
	wire.HostStatusInsufficient:         {steps(inventory, connectivity, apiVIP, tang, ntp, domains), Normal, Attentive, false},
	wire.HostStatusPendingForInput:      {steps(inventory, connectivity, apiVIP, tang), Normal, Attentive, false},
	wire.HostStatusDisconnected:         {steps(inventory), BackedOff, Attentive, false},
	wire.HostStatusInstalling:           {steps(install), Normal, Attentive, false},
	wire.HostStatusInstallingInProgress: {nil, Normal, Normal, false},
	wire.HostStatusError:                {steps(logs, stop), BackedOff, BackedOff, false},
	wire.HostStatusCancelled:            {steps(logs, stop), BackedOff, BackedOff, false},
	// As on the first day.
	wire.HostStatusResettingPendingUserAction: {steps(stop), Normal, Attentive, false},
	wire.HostStatusBinding:                    {nil, 0, 0, true},
}

// pool is the table for unbound hosts; it does not depend on a cluster.
var pool = map[string]row{
	wire.HostStatusDiscoveringUnbound:         {steps(inventory, ntp), Normal, Soon, false},
	wire.HostStatusInsufficientUnbound:        {steps(inventory, ntp), Normal, Attentive, false},
	wire.HostStatusKnownUnbound:               {steps(inventory, ntp), Normal, Attentive, false},
	wire.HostStatusDisconnectedUnbound:        {steps(inventory), BackedOff, Attentive, false},
	wire.HostStatusDisabledUnbound:            {nil, BackedOff, BackedOff, false},
	wire.HostStatusUnbinding:                  {nil, 0, 0, true},
	wire.HostStatusUnbindingPendingUserAction: {nil, 0, 0, true},
	wire.HostStatusReclaiming:                 {steps(bootArtifacts), Normal, Normal, false},
	wire.HostStatusReclaimingRebooting:        {steps(reclaimReboot), BackedOff, BackedOff, true},
}

// rowFor returns what a host in the status is told; an unknown status waits.
func rowFor(status string, secondDay bool) row {
	table := dayOne
	if secondDay {
		table = dayTwo
	}
	for _, t := range []map[string]row{table, pool} {
		if r, ok := t[status]; ok {
			return r
		}
	}
	return row{wait: Normal, hurried: Normal}
}
