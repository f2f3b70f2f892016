package hostmachine

import (
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Triggers of the table.
const (
	Register                   = "RegisterHost"
	ProgressChanged            = "HostProgressChanged"
	InstallationFailed         = "HostInstallationFailed"
	Cancel                     = "CancelInstallation"
	ResettingPendingUserAction = "ResettingPendingUserAction"
	Install                    = "InstallHost"
	Bind                       = "BindHost"
	Unbind                     = "UnbindHost"
	Reclaim                    = "ReclaimHost"
	RebootingForReclaim        = "RebootingForReclaim"
	ReclaimFailed              = "ReclaimHostFailed"
	MediaDisconnect            = "MediaDisconnect"
	Refresh                    = "RefreshHost"
)

// Effects that a decision may ask for, besides status and text.
const (
	// ClearDiscovery forgets inventory, progress, bootstrap flag, image results,
	// time sources, check results and log data.
	ClearDiscovery = "clear what was discovered"
	// ResetPreparation resets the cluster's last-installation-preparation.
	ResetPreparation = "reset the cluster's preparation"
	// ClearBinding forgets everything that belongs to the cluster.
	ClearBinding = "clear the binding"
	// SetConnectionFlag and ClearConnectionFlag maintain connection_timed_out.
	SetConnectionFlag   = "flag the connection"
	ClearConnectionFlag = "clear the connection's flag"
	// SetStageFlag and ClearStageFlag maintain stage_timed_out.
	SetStageFlag   = "flag the stage"
	ClearStageFlag = "clear the stage's flag"
	// RestartStageClock starts the stage's clock anew.
	RestartStageClock = "restart the stage's clock"
	// LogsTimeout sets logs_info to timeout.
	LogsTimeout = "give up on logs"
)

// Short names of the protocol's statuses, for the table.
const (
	discovering      = wire.HostStatusDiscovering
	known            = wire.HostStatusKnown
	disconnected     = wire.HostStatusDisconnected
	insufficient     = wire.HostStatusInsufficient
	pendingForInput  = wire.HostStatusPendingForInput
	preparing        = wire.HostStatusPreparingForInstallation
	preparingFailed  = wire.HostStatusPreparingFailed
	preparingOK      = wire.HostStatusPreparingSuccessful
	installing       = wire.HostStatusInstalling
	inProgress       = wire.HostStatusInstallingInProgress
	pendingUser      = wire.HostStatusInstallingPendingUserAction
	installed        = wire.HostStatusInstalled
	added            = wire.HostStatusAddedToExistingCluster
	failed           = wire.HostStatusError
	cancelled        = wire.HostStatusCancelled
	resetting        = wire.HostStatusResetting
	resettingUser    = wire.HostStatusResettingPendingUserAction
	binding          = wire.HostStatusBinding
	unbinding        = wire.HostStatusUnbinding
	unbindingUser    = wire.HostStatusUnbindingPendingUserAction
	reclaiming       = wire.HostStatusReclaiming
	reclaimingReboot = wire.HostStatusReclaimingRebooting
	discoveringPool  = wire.HostStatusDiscoveringUnbound
	knownPool        = wire.HostStatusKnownUnbound
	insufficientPool = wire.HostStatusInsufficientUnbound
	disconnectedPool = wire.HostStatusDisconnectedUnbound
	disabledPool     = wire.HostStatusDisabledUnbound
	disabled         = wire.HostStatusDisabled
	newHost          = "new"
)

// Groups of statuses that the protocol treats alike.
var (
	// PreInstall are bound hosts that nothing has been done to yet.
	PreInstall = []string{discovering, known, disconnected, insufficient, pendingForInput}
	// Preparing are hosts whose last checks run or have run.
	Preparing = []string{preparing, preparingOK}
	// Installing are hosts that are being written to.
	Installing = []string{installing, inProgress, pendingUser}
	// Pool are unbound hosts.
	Pool = []string{discoveringPool, knownPool, insufficientPool, disconnectedPool}
)

// TakesInventory tells that an inventory may still change things for a host in the status.
func TakesInventory(status string) bool {
	return slices.Contains(states(PreInstall, Pool, Preparing, []string{preparingFailed, inProgress, binding}), status)
}

func states(groups ...[]string) []string { return slices.Concat(groups...) }

func one(s ...string) []string { return s }

// New is the state of a host before its first registration.
const New = newHost
