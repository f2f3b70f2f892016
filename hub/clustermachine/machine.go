package clustermachine

import (
	"slices"

	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/wire"
)

// Triggers of the table.
const (
	Cancel        = "CancelInstallation"
	Reset         = "ResetCluster"
	Prepare       = "PrepareForInstallation"
	ToAddingHosts = "TransformClusterToAddingHosts"
	Refresh       = "RefreshStatus"
	// GiveUp is the word of a program inside the cluster that it does not come up.
	GiveUp = "CompleteInstallation"
)

// Effects that a decision may ask for.
const (
	// ResetHosts sends ResettingPendingUserAction to every host and deletes
	// generated files; CancelHosts sends CancelInstallation to every host.
	ResetHosts  = "reset the hosts"
	CancelHosts = "cancel the hosts"
	// StartPreparation makes the Ignition files and notes the outcome.
	StartPreparation = "start the preparation"
	// InstallStarted and InstallCompleted note the times.
	InstallStarted   = "note the start"
	InstallCompleted = "note the end"
	// FlagStage marks the finalizing stage as timed out.
	FlagStage = "flag the finalizing stage"
	// TellPreparation puts a preparation that took too long on the timeline.
	TellPreparation = "tell that the preparation took too long"
	// LogsTimeout sets logs_info to timeout.
	LogsTimeout = "give up on logs"
	// BecomeDayTwo makes the kind AddHostsCluster.
	BecomeDayTwo = "become a cluster that takes more hosts"
)

// Short names of the protocol's statuses, for the table.
const (
	insufficient    = wire.ClusterStatusInsufficient
	ready           = wire.ClusterStatusReady
	failed          = wire.ClusterStatusError
	preparing       = wire.ClusterStatusPreparingForInstallation
	pendingForInput = wire.ClusterStatusPendingForInput
	installing      = wire.ClusterStatusInstalling
	finalizing      = wire.ClusterStatusFinalizing
	installed       = wire.ClusterStatusInstalled
	addingHosts     = wire.ClusterStatusAddingHosts
	cancelled       = wire.ClusterStatusCancelled
	pendingUser     = wire.ClusterStatusInstallingPendingUserAction
	unmonitored     = wire.ClusterStatusUnmonitored
)

// Open are clusters that can be changed and that take new hosts.
var Open = []string{insufficient, ready, pendingForInput, addingHosts}

type rule = rules.Rule[Facts]

func one(s ...string) []string { return s }

// Machine is the table. The order of its rules is part of its meaning.
var Machine = &rules.Machine[Facts]{
	Name: "cluster",
	States: []string{
		pendingForInput, insufficient, ready, preparing, installing, pendingUser, finalizing,
		installed, addingHosts, failed, cancelled, unmonitored,
	},
	Rules: slices.Concat(userRules, readinessRules, installRules),
}

// userRules: somebody wants something.
var userRules = []rule{
	{Trigger: Cancel, From: one(installing, pendingUser, failed, finalizing), To: cancelled, Effects: []string{CancelHosts}, Info: "The installation was cancelled"},
	{Trigger: Cancel, From: one(preparing), To: ready, Effects: []string{CancelHosts}, Info: "The installation was cancelled before it began"},
	{
		Trigger: Reset, From: one(preparing, installing, pendingUser, failed, cancelled, finalizing), To: insufficient, Effects: []string{ResetHosts},
		Info: "The installation is to be done anew; waiting for the hosts",
	},
	{Trigger: Prepare, From: one(ready), To: preparing, Effects: []string{StartPreparation}, Info: "Preparing the installation"},
	{Trigger: ToAddingHosts, From: one(installed), To: addingHosts, Effects: []string{BecomeDayTwo}, Info: "The cluster takes more hosts"},
}

// readinessRules: before anything is written to a disk.
var readinessRules = []rule{
	{Trigger: Refresh, From: one(pendingForInput, ready, insufficient), To: pendingForInput, When: []guard{inputMissing}, Info: "Waiting for settings of the cluster"},
	{Trigger: Refresh, From: one(pendingForInput, ready, insufficient), To: insufficient, When: []guard{rules.Not(valid)}, Info: "The cluster is not ready to be installed"},
	{Trigger: Refresh, From: one(pendingForInput, ready, insufficient), To: ready, Info: "The cluster is ready to be installed"},

	{Trigger: Refresh, From: one(preparing), To: insufficient, When: []guard{hostLeft}, Info: "A host is not ready any more"},
	{Trigger: Refresh, From: one(preparing), To: ready, When: []guard{hostFailed}, Info: "A host failed its last checks before the installation"},
	{Trigger: Refresh, From: one(preparing), To: ready, When: []guard{prepareFailed}, Info: "The installation could not be prepared"},
	{Trigger: Refresh, From: one(preparing), To: installing, When: []guard{allPrepared}, Effects: []string{InstallStarted}, Info: "Installation in progress"},
	{Trigger: Refresh, From: one(preparing), To: ready, When: []guard{prepareOver}, Effects: []string{TellPreparation}, Info: "The preparation took too long"},
	{Trigger: Refresh, From: one(preparing), To: rules.Same},
}

// What is said of the end depends on who reports it.
const (
	waitingInside = "The hosts are installed; waiting for the cluster"
	waitingOthers = "Most hosts are installed; waiting for the others"
	// HostsInstalled is all that is known where nobody inside the cluster reports.
	HostsInstalled = "The hosts are installed; nobody inside the cluster tells the hub whether it runs"
)

// installRules: from the first write to the end.
var installRules = []rule{
	{Trigger: Refresh, From: one(pendingUser), To: failed, When: []guard{rules.Not(possible)}, Info: "Too few hosts are left to finish the cluster"},
	{Trigger: Refresh, From: one(pendingUser), To: failed, When: []guard{installOver}, Info: "The installation took longer than 24 hours"},
	{Trigger: Refresh, From: one(installing, finalizing), To: failed, When: []guard{installOver, softTimeouts}, Info: "The installation took longer than 24 hours"},
	{Trigger: Refresh, From: one(finalizing), To: failed, When: []guard{finalizeOver, rules.Not(softTimeouts)}, Info: "The cluster did not come up in time"},
	{Trigger: GiveUp, From: one(finalizing), To: failed, Info: "The program inside the cluster says that it does not come up"},
	{Trigger: Refresh, From: one(finalizing), To: rules.Same, When: []guard{stageOver}, Effects: []string{FlagStage}},
	{Trigger: Refresh, From: one(installing, finalizing), To: pendingUser, When: []guard{hostWaits}, Info: "A host waits for a person, see its status"},
	{Trigger: Refresh, From: one(pendingUser), To: finalizing, When: []guard{rules.Not(hostWaits), enough, inside}, Info: waitingInside},
	{Trigger: Refresh, From: one(pendingUser), To: finalizing, When: []guard{rules.Not(hostWaits), enough}, Info: waitingOthers},
	{Trigger: Refresh, From: one(pendingUser), To: installing, When: []guard{rules.Not(hostWaits)}, Info: "Installation in progress"},
	{Trigger: Refresh, From: one(installing), To: finalizing, When: []guard{enough, inside}, Info: waitingInside},
	{Trigger: Refresh, From: one(installing), To: finalizing, When: []guard{enough}, Info: waitingOthers},
	{Trigger: Refresh, From: one(installing), To: failed, When: []guard{rules.Not(possible)}, Info: "Too few hosts are left to finish the cluster"},
	{Trigger: Refresh, From: one(finalizing), To: installed, When: []guard{finalized, inside}, Effects: []string{InstallCompleted}, Info: "The cluster is installed"},
	{Trigger: Refresh, From: one(finalizing), To: installed, When: []guard{finalized}, Effects: []string{InstallCompleted}, Info: HostsInstalled},
	{Trigger: Refresh, From: one(failed, cancelled), To: rules.Same, When: []guard{logsTimedOut}, Effects: []string{LogsTimeout}},
	{Trigger: Refresh, From: one(pendingUser, installing, finalizing, installed, addingHosts, failed, cancelled, unmonitored), To: rules.Same},
}
