package clustermachine

import (
	"time"

	"github.com/ironflow/ironflow/hub/rules"
)

// Counts are the hosts of a cluster by what they are for and how far they are.
type Counts struct {
	// Masters, Arbiters and Workers are all hosts of the role.
	Masters, Arbiters, Workers int
	// MastersUp, ArbitersUp and WorkersUp are installed; ...Coming are still in
	// an installing status.
	MastersUp, ArbitersUp, WorkersUp             int
	MastersComing, ArbitersComing, WorkersComing int
}

// Facts are all that the table may know about a cluster.
type Facts struct {
	// InputMissing tells that a person has to give something first.
	InputMissing bool
	// ValidationsPass tells that every gating validation passes.
	ValidationsPass bool
	// AllPrepared tells that every host is preparing-successful; HostLeft that
	// one is neither known nor preparing; HostFailed that one failed its checks.
	AllPrepared, HostLeft, HostFailed bool
	// Prepared and PreparationFailed are the outcome of making the Ignition files.
	Prepared, PreparationFailed bool
	// HostWaits tells that a host waits for a person.
	HostWaits bool
	// SingleNode tells that the cluster is one host; otherwise every master has
	// to be installed, and at least MinMasters.
	SingleNode bool
	MinMasters int
	Hosts      Counts
	// HostsSettled tells that every host is installed or failed.
	HostsSettled bool
	// Inside tells that a program inside the cluster reports how it comes up; otherwise
	// the installation ends with that of its hosts, and no more is known.
	Inside bool
	// Finalized tells that the cluster's own services came up, as far as somebody reports.
	Finalized bool
	// InState is the time since the status began; PrepareTimeout bounds preparing.
	InState, PrepareTimeout time.Duration
	// StageTimedOut and StageMayFail are about the finalizing stage.
	StageTimedOut, StageMayFail, StageFlagged bool
	SoftTimeouts                              bool
	LogsTimedOut                              bool
}

// Limits that the table knows by itself.
const (
	InstallationLimit = 24 * time.Hour
	FinalizingLimit   = 5 * time.Hour
)

// Enough reports whether the installed hosts make a cluster.
func (f Facts) Enough() bool {
	h := f.Hosts
	return f.suffices(h.MastersUp, h.ArbitersUp, h.WorkersUp)
}

// Possible reports whether the hosts that are installed or on their way can
// still make a cluster.
func (f Facts) Possible() bool {
	h := f.Hosts
	return f.suffices(h.MastersUp+h.MastersComing, h.ArbitersUp+h.ArbitersComing, h.WorkersUp+h.WorkersComing)
}

func (f Facts) suffices(masters, arbiters, workers int) bool {
	if f.SingleNode {
		return masters == 1 && f.Hosts.Workers == 0
	}
	switch {
	case masters < max(f.MinMasters, f.Hosts.Masters, 1):
		return false
	case f.Hosts.Arbiters > 0 && arbiters < 1:
		return false
	case f.Hosts.Workers >= 2 && workers < 2:
		return false
	}
	return true
}

type guard = rules.Guard[Facts]

func is(name string, holds func(Facts) bool) guard { return guard{Name: name, Holds: holds} }

// The guards of the table.
var (
	inputMissing  = is("input is missing", func(f Facts) bool { return f.InputMissing })
	valid         = is("all validations pass", func(f Facts) bool { return f.ValidationsPass })
	hostFailed    = is("a host failed its last checks", func(f Facts) bool { return f.HostFailed })
	hostLeft      = is("a host is not ready any more", func(f Facts) bool { return f.HostLeft })
	prepareFailed = is("preparation failed", func(f Facts) bool { return f.PreparationFailed })
	prepareOver   = is("preparation takes too long", func(f Facts) bool { return f.PrepareTimeout > 0 && f.InState > f.PrepareTimeout })
	allPrepared   = is("every host and the cluster are prepared", func(f Facts) bool { return f.AllPrepared && f.Prepared })
	hostWaits     = is("a host waits for a person", func(f Facts) bool { return f.HostWaits })
	enough        = is("enough hosts are installed", Facts.Enough)
	possible      = is("enough hosts are installed or on their way", Facts.Possible)
	inside        = is("somebody inside the cluster reports", func(f Facts) bool { return f.Inside })
	finalized     = is("hosts and cluster services are settled", func(f Facts) bool { return f.HostsSettled && f.Finalized })
	softTimeouts  = is("soft limits", func(f Facts) bool { return f.SoftTimeouts })
	installOver   = is("24 hours are over", func(f Facts) bool { return f.InState > InstallationLimit })
	finalizeOver  = is("finalizing takes too long", func(f Facts) bool { return f.InState > FinalizingLimit || (f.StageTimedOut && f.StageMayFail) })
	stageOver     = is("finalizing stage takes too long", func(f Facts) bool { return f.StageTimedOut && !f.StageFlagged })
	logsTimedOut  = is("logs did not come in time", func(f Facts) bool { return f.LogsTimedOut })
)
