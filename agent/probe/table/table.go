// Package table lists the checks of the packages around it as steps.
package table

import (
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/apivip"
	"github.com/ironflow/ironflow/agent/probe/artifacts"
	"github.com/ironflow/ironflow/agent/probe/connectivity"
	"github.com/ironflow/ironflow/agent/probe/dhcplease"
	"github.com/ironflow/ironflow/agent/probe/diskspeed"
	"github.com/ironflow/ironflow/agent/probe/domains"
	"github.com/ironflow/ironflow/agent/probe/freeaddresses"
	"github.com/ironflow/ironflow/agent/probe/images"
	"github.com/ironflow/ironflow/agent/probe/ntp"
	"github.com/ironflow/ironflow/agent/probe/reclaim"
	"github.com/ironflow/ironflow/agent/probe/tang"
	"github.com/ironflow/ironflow/agent/probe/upgrade"
	"github.com/ironflow/ironflow/agent/probe/vips"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Checks returns all checks of a host.
func Checks(env probe.Env) steps.Registry {
	return steps.Registry{
		wire.StepTypeConnectivityCheck:          connectivity.Check.Runner(env),
		wire.StepTypeNTPSynchronizer:            ntp.Check.Runner(env),
		wire.StepTypeDomainResolution:           domains.Check.Runner(env),
		wire.StepTypeFreeNetworkAddresses:       freeaddresses.Check.Runner(env),
		wire.StepTypeVerifyVIPs:                 vips.Check.Runner(env),
		wire.StepTypeContainerImageAvailability: images.Check.Runner(env),
		wire.StepTypeInstallationDiskSpeedCheck: diskspeed.Check.Runner(env),
		wire.StepTypeUpgradeAgent:               upgrade.Check.Runner(env),
		wire.StepTypeAPIVIPConnectivityCheck:    apivip.Check.Runner(env),
		wire.StepTypeTangConnectivityCheck:      tang.Check.Runner(env),
		wire.StepTypeDHCPLeaseAllocate:          dhcplease.Check.Runner(env),
		wire.StepTypeDownloadBootArtifacts:      artifacts.Check.Runner(env),
		wire.StepTypeRebootForReclaim:           reclaim.Check.Runner(env),
	}
}
