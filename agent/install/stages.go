package install

import (
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Short names of the protocol's stages.
const (
	starting     = wire.HostStageStartingInstallation
	installing   = wire.HostStageInstalling
	writing      = wire.HostStageWritingImageToDisk
	registryData = wire.HostStageCopyingRegistryDataToDisk
	controlPlane = wire.HostStageWaitingForControlPlane
	bootkube     = wire.HostStageWaitingForBootkube
	controller   = wire.HostStageWaitingForController
	rebooting    = wire.HostStageRebooting
)

// singleNode is the row of a cluster of one host; its role is bootstrap too.
const singleNode wire.HostRole = "single-node"

// sequences are the stages that a host goes through before it leaves the live
// image, per role; the later ones belong to hub and cluster.
var sequences = map[wire.HostRole][]wire.HostStage{
	wire.HostRoleBootstrap: {starting, installing, writing, registryData, controlPlane, bootkube, controller, rebooting},
	wire.HostRoleMaster:    {starting, installing, writing, registryData, rebooting},
	wire.HostRoleArbiter:   {starting, installing, writing, registryData, rebooting},
	wire.HostRoleWorker:    {starting, installing, writing, controlPlane, rebooting},
	singleNode:             {starting, installing, bootkube, writing, registryData, rebooting},
}

// Sequence returns the stages of an order, in which they are done and reported.
func Sequence(request wire.InstallCmdRequest) []wire.HostStage {
	role := request.Role
	if role == wire.HostRoleBootstrap && request.ControlPlaneCount == 1 {
		role = singleNode
	}
	return slices.Clone(sequences[role])
}
