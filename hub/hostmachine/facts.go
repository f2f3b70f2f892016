package hostmachine

import (
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/wire"
)

// Check is the outcome of one of the checks before an installation.
type Check int

// The outcomes of a check.
const (
	Unknown Check = iota
	Passed
	Failed
)

// Facts are all that the table may know about a host. Times are ages at the
// moment of the decision.
type Facts struct {
	// Bound tells that the host belongs to a cluster.
	Bound bool
	// DayTwo tells that the cluster is installed already.
	DayTwo bool
	// Inside tells that a program inside the cluster reports what becomes of its hosts
	// after their reboot; otherwise nobody does.
	Inside bool
	// Connected and MediaConnected tell whether the agent polls and can read its boot medium.
	Connected, MediaConnected bool
	// HasInventory, MinimumHardware, NetworkDefined and OtherValidations are the
	// results of the validations, by the group that decides on the status.
	HasInventory, MinimumHardware, NetworkDefined, OtherValidations bool
	// Twin tells that another machine says that it is this host.
	Twin bool
	// MinimumPool tells that the few checks of an unbound host pass.
	MinimumPool bool
	// RoleValid tells that the host's role can be installed.
	RoleValid bool
	// DiskSpeed and Images are the checks before an installation.
	DiskSpeed, Images Check
	// ClusterStatus is empty for an unbound host.
	ClusterStatus string
	// Stage is the installation stage; InState, InStage and SinceUpdate are
	// times since the status, the stage and the last report of the stage began.
	Stage                         wire.HostStage
	InState, InStage, SinceUpdate time.Duration
	// PrepareTimeout bounds the checks before an installation.
	PrepareTimeout time.Duration
	// StageTimeout bounds the present stage; it counts from SinceUpdate for
	// stages that report progress.
	StageTimeout time.Duration
	// SoftTimeouts turns hard limits into flags.
	SoftTimeouts bool
	// ConnectionFlag and StageFlag tell whether a soft limit was flagged before.
	ConnectionFlag, StageFlag bool
	// ClusterWithoutHost tells that the cluster can be finished without this host.
	ClusterWithoutHost bool
	// LogsTimedOut tells that an expected log has not come in time.
	LogsTimedOut bool
	// Repeats tells that a restart before the end has the installation begin anew, where
	// nobody could start it again.
	Repeats bool
}

// Limits that the table knows by itself.
const (
	InstallingLimit = 20 * time.Minute
	UserActionLimit = time.Hour
	ReclaimLimit    = time.Hour
	// JoiningLimit bounds the installation of a host that joins an installed cluster,
	// also with soft limits; the others end with their cluster's.
	JoiningLimit = 24 * time.Hour
)

// postInstall are the stages after the installed system has booted.
var postInstall = []wire.HostStage{
	wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
}

// restartable are stages whose clock starts anew while the cluster waits for a person.
var restartable = []wire.HostStage{
	wire.HostStageWaitingForControlPlane, wire.HostStageWaitingForController,
	wire.HostStageWaitingForBootkube, wire.HostStageRebooting,
}

type guard = rules.Guard[Facts]

func is(name string, holds func(Facts) bool) guard { return guard{Name: name, Holds: holds} }

// The guards of the table.
var (
	bound          = is("bound to a cluster", func(f Facts) bool { return f.Bound })
	dayTwo         = is("cluster is installed already", func(f Facts) bool { return f.DayTwo })
	inside         = is("somebody inside the cluster reports", func(f Facts) bool { return f.Inside })
	reachable      = is("agent polls and reads its medium", func(f Facts) bool { return f.Connected && f.MediaConnected })
	connected      = is("agent polls", func(f Facts) bool { return f.Connected })
	hasInventory   = is("has an inventory", func(f Facts) bool { return f.HasInventory })
	twin           = is("another machine has its id", func(f Facts) bool { return f.Twin })
	minimum        = is("hardware suffices", func(f Facts) bool { return f.MinimumHardware })
	networkDefined = is("machine network is known", func(f Facts) bool { return f.NetworkDefined })
	othersPass     = is("all other validations pass", func(f Facts) bool { return f.OtherValidations })
	poolMinimum    = is("checks of unbound hosts pass", func(f Facts) bool { return f.MinimumPool })
	roleValid      = is("role can be installed", func(f Facts) bool { return f.RoleValid })

	diskSpeedFailed = is("disk is too slow", func(f Facts) bool { return f.DiskSpeed == Failed })
	imagesFailed    = is("an image cannot be pulled", func(f Facts) bool { return f.Images == Failed })
	checksPassed    = is("disk speed and images pass", func(f Facts) bool { return f.DiskSpeed == Passed && f.Images == Passed })
	checksTimedOut  = is("checks are not done in time", func(f Facts) bool {
		return (f.DiskSpeed == Unknown || f.Images == Unknown) && f.PrepareTimeout > 0 && f.InState > f.PrepareTimeout
	})

	clusterPreparing  = cluster(wire.ClusterStatusPreparingForInstallation)
	clusterInstalling = cluster(wire.ClusterStatusInstalling)
	clusterFailed     = cluster(wire.ClusterStatusError)
	clusterUserAction = cluster(wire.ClusterStatusInstallingPendingUserAction)

	atRebooting   = stage("at Rebooting", wire.HostStageRebooting)
	atDone        = stage("at Done", wire.HostStageDone)
	atRestartable = stage("in a stage whose clock starts anew", restartable...)
	pastReboot    = stage("past the reboot", postInstall...)
	rebooted      = stage("at Rebooting or later", append(slices.Clone(postInstall), wire.HostStageRebooting)...)

	softTimeouts = is("soft limits", func(f Facts) bool { return f.SoftTimeouts })
	stageOver    = is("stage takes too long", func(f Facts) bool { return f.StageTimeout > 0 && stageAge(f) > f.StageTimeout })
	stageFlagged = is("flagged before", func(f Facts) bool { return f.StageFlag })
	connFlagged  = is("flagged before", func(f Facts) bool { return f.ConnectionFlag })
	logsTimedOut = is("logs did not come in time", func(f Facts) bool { return f.LogsTimedOut })

	repeats = is("installation begins anew by itself", func(f Facts) bool { return f.Repeats })

	clusterGoesOn = is("cluster succeeds without this host", func(f Facts) bool { return f.ClusterWithoutHost })
)

func cluster(status string) guard {
	return is("cluster is "+status, func(f Facts) bool { return f.ClusterStatus == status })
}

func stage(name string, stages ...wire.HostStage) guard {
	return is(name, func(f Facts) bool { return slices.Contains(stages, f.Stage) })
}

func inStateOver(name string, limit time.Duration) guard {
	return is(name, func(f Facts) bool { return f.InState > limit })
}

// stageAge is the time that counts against the stage's limit.
func stageAge(f Facts) time.Duration {
	if ReportsProgress(f.Stage) {
		return f.SinceUpdate
	}
	return f.InStage
}

// ReportsProgress tells that the limit of the stage counts from its last report.
func ReportsProgress(stage wire.HostStage) bool {
	return stage == wire.HostStageWritingImageToDisk || stage == wire.HostStageCopyingRegistryDataToDisk
}
