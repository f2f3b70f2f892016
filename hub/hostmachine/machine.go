package hostmachine

import (
	"slices"

	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/wire"
)

type rule = rules.Rule[Facts]

// Machine is the table. The order of its rules is part of its meaning.
var Machine = &rules.Machine[Facts]{
	Name: "host",
	States: []string{
		newHost,
		discovering, known, disconnected, insufficient, pendingForInput, disabled,
		preparing, preparingFailed, preparingOK,
		installing, inProgress, pendingUser, installed, added, failed, cancelled,
		resetting, resettingUser,
		binding, unbinding, unbindingUser, reclaiming, reclaimingReboot,
		discoveringPool, knownPool, insufficientPool, disconnectedPool, disabledPool,
	},
	Rules: slices.Concat(registerRules, progressRules, endRules, bindingRules, mediaRules, refreshRules, poolRules),
}

// registerRules: an agent has (re)started on the host.
var registerRules = []rule{
	{Trigger: Register, From: one(newHost), To: discovering, When: []guard{bound}, Info: "Waiting for the host's inventory"},
	{Trigger: Register, From: one(newHost), To: discoveringPool, Info: "Waiting for the host's inventory"},
	{
		Trigger: Register, From: Preparing, To: known, Effects: []string{ResetPreparation},
		Info: "The agent restarted while the installation was being prepared",
	},
	{
		Trigger: Register, From: states(PreInstall, one(preparingFailed, resettingUser, binding)), To: discovering,
		Effects: []string{ClearDiscovery}, Info: "Waiting for the host's inventory",
	},
	{
		Trigger: Register, From: one(inProgress, added), To: pendingUser, When: []guard{rebooted},
		Info: "The host booted the live image again instead of its disk; correct its boot order and reboot it",
	},
	{Trigger: Register, From: one(pendingUser), Refuse: "the host booted the live image again instead of its disk; correct its boot order and reboot it"},
	{
		Trigger: Register, From: one(installing, inProgress), To: installing, When: []guard{repeats},
		Info: "The host restarted during its installation, which begins anew",
	},
	{
		Trigger: Register, From: one(installing, inProgress), To: failed,
		Info: "The host restarted unexpectedly during the installation",
	},
	{Trigger: Register, From: one(failed, cancelled), To: rules.Same},
	{Trigger: Register, From: one(installed, added), Refuse: "the host is installed; release or reset it in the hub before it is installed again"},
	{
		Trigger: Register, From: states(Pool, one(disabledPool, unbinding, unbindingUser, reclaimingReboot)), To: discoveringPool,
		Effects: []string{ClearDiscovery, ClearBinding}, Info: "Waiting for the host's inventory",
	},
}

// progressRules: the installation has reached a stage.
var progressRules = []rule{
	{
		Trigger: ProgressChanged, From: one(installing, inProgress), To: added, When: []guard{dayTwo, atRebooting, rules.Not(inside)},
		Info: "The host is installed and reboots; nobody tells the hub whether it joins the cluster",
	},
	{Trigger: ProgressChanged, From: one(installing, inProgress), To: inProgress, When: []guard{dayTwo, atRebooting}, Info: "Rebooting into the installed system"},
	{Trigger: ProgressChanged, From: Installing, To: added, When: []guard{dayTwo, atDone, inside}, Info: "The host was added to the cluster"},
	{Trigger: ProgressChanged, From: Installing, To: added, When: []guard{dayTwo, atDone}, Info: "The host is installed"},
	{Trigger: ProgressChanged, From: Installing, To: installed, When: []guard{atDone}, Info: "The host is installed"},
	{Trigger: ProgressChanged, From: Installing, To: inProgress, Info: "Installing"},
}

// endRules: an installation ends, is called off or is to be done over.
var endRules = []rule{
	{Trigger: InstallationFailed, From: Installing, To: failed, Info: "The installation failed"},
	{Trigger: InstallationFailed, From: one(failed), To: rules.Same},
	{Trigger: Cancel, From: states(Installing, one(installed, failed)), To: cancelled, Info: "The installation was cancelled"},
	{Trigger: Cancel, From: states(Preparing, one(preparingFailed)), To: known, Info: "The installation was cancelled before it began"},
	{
		Trigger: ResettingPendingUserAction,
		From:    states(PreInstall, Preparing, one(preparingFailed, resetting), Installing, one(installed, failed, cancelled, added, binding)),
		To:      resettingUser, Info: "Reboot the host into its live image to install it anew",
	},
	{Trigger: ResettingPendingUserAction, From: one(resettingUser), To: rules.Same},
	{Trigger: Install, From: one(known), To: installing, When: []guard{dayTwo}, Info: "The installation starts"},
}

// bindingRules: a host changes its cluster.
var bindingRules = []rule{
	{Trigger: Bind, From: one(knownPool), To: binding, Info: "Waiting for the agent to register again for its cluster"},
	{Trigger: Unbind, From: PreInstall, To: unbinding, Info: "Waiting for the agent to register again without a cluster"},
	{
		Trigger: Unbind, From: states(Preparing, one(preparingFailed), Installing, one(installed, added, failed, cancelled, resettingUser, binding)), To: unbindingUser,
		Info: "Reboot the host into its live image to return it to the pool",
	},
	{Trigger: Reclaim, From: one(installed, added), To: reclaiming, Info: "Fetching the live image to boot into"},
	{Trigger: Reclaim, From: PreInstall, To: unbinding, Info: "Waiting for the agent to register again without a cluster"},
	{Trigger: Reclaim, From: one(failed, cancelled), To: unbindingUser, Info: "Reboot the host into its live image to return it to the pool"},
	{Trigger: RebootingForReclaim, From: one(reclaiming), To: reclaimingReboot, Info: "Rebooting into the live image"},
	{
		Trigger: ReclaimFailed, From: one(reclaiming, reclaimingReboot), To: unbindingUser,
		Info: "The host could not boot its live image by itself; reboot it into the image",
	},
}

// mediaRules: the boot medium cannot be read any more.
var mediaRules = []rule{
	{Trigger: MediaDisconnect, From: states(PreInstall, one(preparingFailed, binding)), To: disconnected, Info: "The boot medium was disconnected; attach it and reboot the host"},
	{
		Trigger: MediaDisconnect, From: states(Preparing, one(installing, inProgress, failed)), To: failed,
		Info: "The boot medium was disconnected during the installation; attach it and reboot the host",
	},
	{Trigger: MediaDisconnect, From: states(Pool, one(unbinding)), To: disconnectedPool, Info: "The boot medium was disconnected; attach it and reboot the host"},
}

// refreshRules: anything about a bound host may have changed, or time has passed.
var refreshRules = []rule{
	{
		Trigger: Refresh, From: one(reclaiming, reclaimingReboot), To: unbindingUser, When: []guard{inStateOver("reclaim takes too long", ReclaimLimit)},
		Info: "The host did not come back from its reboot; reboot it into the live image",
	},

	{Trigger: Refresh, From: one(known), To: preparing, When: []guard{roleValid, reachable, clusterPreparing}, Info: "Running the last checks before the installation"},
	{Trigger: Refresh, From: states(PreInstall, Preparing, one(preparingFailed)), To: insufficient, When: []guard{twin, reachable}, Info: "Another machine has the host's id; neither is installed"},
	{Trigger: Refresh, From: states(one(preparing, preparingFailed, known)), To: insufficient, When: []guard{diskSpeedFailed}, Info: "The installation disk is too slow, or could not be measured"},
	{Trigger: Refresh, From: one(preparing), To: preparingOK, When: []guard{checksPassed, clusterPreparing}, Info: "Ready to be installed; waiting for the other hosts"},
	{Trigger: Refresh, From: one(preparingOK), To: installing, When: []guard{clusterInstalling}, Info: "The installation starts"},
	{
		Trigger: Refresh, From: one(preparing), To: preparingFailed, When: []guard{rules.Any("checks failed or not done in time", imagesFailed, checksTimedOut)},
		Info: "The last checks before the installation failed",
	},
	{Trigger: Refresh, From: one(preparing), To: known, When: []guard{rules.Not(clusterPreparing)}, Info: "The cluster is not being prepared any more"},
	{Trigger: Refresh, From: one(preparingFailed), To: known, When: []guard{rules.Not(clusterPreparing)}, Info: "The last checks failed; the installation can be tried again"},
	{
		Trigger: Refresh, From: one(preparingOK), To: known, When: []guard{rules.Not(clusterPreparing), rules.Not(clusterInstalling)},
		Info: "The cluster is not being prepared any more",
	},

	{Trigger: Refresh, From: one(disconnected), To: rules.Same, When: []guard{rules.Not(reachable)}},
	{
		Trigger: Refresh, From: states(PreInstall, one(preparingFailed), Preparing), To: disconnected, When: []guard{rules.Not(reachable)},
		Info: "The agent does not answer; check the host's network and power",
	},

	{
		Trigger: Refresh, From: states(Installing, one(installed, resettingUser)), To: failed, When: []guard{clusterFailed, rules.Not(dayTwo)},
		Info: "The installation of the cluster failed",
	},
	{
		Trigger: Refresh, From: Installing, To: failed, When: []guard{dayTwo, inStateOver("a day is over", JoiningLimit)},
		Info: "The installation took longer than 24 hours",
	},
	{
		Trigger: Refresh, From: one(installing), To: failed, When: []guard{inStateOver("no progress since the start", InstallingLimit)},
		Info: "The installation did not begin within 20 minutes",
	},
	{
		Trigger: Refresh, From: one(installing, inProgress), To: failed, When: []guard{rules.Not(connected), rules.Not(softTimeouts)},
		Info: "The agent stopped answering during the installation",
	},
	{Trigger: Refresh, From: one(installing, inProgress), To: rules.Same, When: []guard{rules.Not(connected), rules.Not(connFlagged)}, Effects: []string{SetConnectionFlag}},
	{Trigger: Refresh, From: one(installing, inProgress), To: rules.Same, When: []guard{connected, connFlagged}, Effects: []string{ClearConnectionFlag}},
	{Trigger: Refresh, From: one(inProgress), To: rules.Same, When: []guard{clusterUserAction, atRestartable}, Effects: []string{RestartStageClock}},
	{
		// A host that boots the live image again says so by itself.
		Trigger: Refresh, From: one(inProgress), To: installed, When: []guard{atRebooting, stageOver, rules.Not(inside), rules.Not(dayTwo)},
		Info: "The host was installed and has rebooted; nobody tells the hub whether its system came up",
	},
	{
		Trigger: Refresh, From: one(inProgress), To: pendingUser, When: []guard{atRebooting, stageOver},
		Info: "The host did not come up from its disk; check its boot order and console",
	},
	{Trigger: Refresh, From: one(inProgress), To: failed, When: []guard{stageOver, rules.Not(softTimeouts)}, Info: "A stage of the installation took too long"},
	{Trigger: Refresh, From: one(inProgress), To: rules.Same, When: []guard{stageOver, rules.Not(stageFlagged)}, Effects: []string{SetStageFlag}},
	{Trigger: Refresh, From: one(inProgress), To: rules.Same, When: []guard{rules.Not(stageOver), stageFlagged}, Effects: []string{ClearStageFlag}},
	{
		Trigger: Refresh, From: one(pendingUser), To: failed, When: []guard{inStateOver("nobody acted in time", UserActionLimit), clusterGoesOn, rules.Not(pastReboot)},
		Info: "The host did not boot its disk within an hour; the cluster goes on without it",
	},

	{Trigger: Refresh, From: one(disconnected, discovering), To: discovering, When: []guard{rules.Not(hasInventory)}, Info: "Waiting for the host's inventory"},
	{Trigger: Refresh, From: PreInstall, To: insufficient, When: []guard{rules.Not(minimum)}, Info: "The host does not meet the minimum hardware requirements"},
	{Trigger: Refresh, From: PreInstall, To: pendingForInput, When: []guard{rules.Not(networkDefined)}, Info: "Waiting for the cluster's machine network"},
	{Trigger: Refresh, From: PreInstall, To: insufficient, When: []guard{rules.Not(othersPass)}, Info: "The host does not meet the requirements of its cluster"},
	{Trigger: Refresh, From: PreInstall, To: known, Info: "The host is ready to be installed"},

	{Trigger: Refresh, From: one(failed, cancelled), To: rules.Same, When: []guard{logsTimedOut}, Effects: []string{LogsTimeout}},
}

// poolRules: the same for an unbound host.
var poolRules = []rule{
	{Trigger: Refresh, From: one(disconnectedPool), To: rules.Same, When: []guard{rules.Not(reachable)}},
	{
		Trigger: Refresh, From: states(Pool, one(unbinding)), To: disconnectedPool, When: []guard{rules.Not(reachable)},
		Info: "The agent does not answer; check the host's network and power",
	},
	{Trigger: Refresh, From: Pool, To: insufficientPool, When: []guard{twin}, Info: "Another machine has the host's id; neither is installed"},
	{Trigger: Refresh, From: Pool, To: discoveringPool, When: []guard{rules.Not(hasInventory)}, Info: "Waiting for the host's inventory"},
	{Trigger: Refresh, From: Pool, To: insufficientPool, When: []guard{rules.Not(poolMinimum)}, Info: "The host does not meet the minimum requirements"},
	{Trigger: Refresh, From: Pool, To: knownPool, Info: "The host is ready to be bound to a cluster"},
	{Trigger: Refresh, From: states(
		one(preparing, preparingOK, preparingFailed, failed, cancelled, installed, added, resetting, resettingUser, disabled, disabledPool),
		Installing, one(binding, unbinding, unbindingUser, reclaiming, reclaimingReboot)), To: rules.Same},
}

// Stages returns the stages of an installation in order, for a role. Bootstrap
// and the single-node list take precedence, as in the protocol; alone tells that the
// control plane is one host, which brings itself up.
func Stages(role wire.HostRole, bootstrap, alone bool) []wire.HostStage {
	switch {
	case bootstrap && alone:
		return stagesSingle
	case bootstrap || role == wire.HostRoleBootstrap:
		return stagesBootstrap
	case role == wire.HostRoleWorker:
		return stagesWorker
	}
	return stagesMaster
}

// AllStages returns every stage that some host passes.
func AllStages() []wire.HostStage {
	all := slices.Concat(stagesBootstrap, stagesMaster, stagesWorker, stagesSingle)
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	stagesBootstrap = []wire.HostStage{
		wire.HostStageStartingInstallation, wire.HostStageInstalling, wire.HostStageWritingImageToDisk,
		wire.HostStageCopyingRegistryDataToDisk, wire.HostStageWaitingForControlPlane, wire.HostStageWaitingForBootkube,
		wire.HostStageWaitingForController, wire.HostStageRebooting, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
	}
	stagesMaster = []wire.HostStage{
		wire.HostStageStartingInstallation, wire.HostStageInstalling, wire.HostStageWritingImageToDisk,
		wire.HostStageCopyingRegistryDataToDisk, wire.HostStageRebooting, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
	}
	stagesWorker = []wire.HostStage{
		wire.HostStageStartingInstallation, wire.HostStageInstalling, wire.HostStageWritingImageToDisk,
		wire.HostStageWaitingForControlPlane, wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring,
		wire.HostStageJoined, wire.HostStageDone,
	}
	stagesSingle = []wire.HostStage{
		wire.HostStageStartingInstallation, wire.HostStageInstalling, wire.HostStageWaitingForBootkube, wire.HostStageWritingImageToDisk,
		wire.HostStageCopyingRegistryDataToDisk, wire.HostStageRebooting, wire.HostStageJoined, wire.HostStageDone,
	}
)
