package evaluate

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// SingleNode tells that the cluster is one host.
func SingleNode(c *store.Cluster) bool { return c.Masters == 1 && c.Workers == 0 && c.Arbiters == 0 }

// Stages are those that the host passes, in order. As its agent has them: who is the whole
// control plane writes its disk last, beside workers as well.
func Stages(c *store.Cluster, h *store.Host) []wire.HostStage {
	return hostmachine.Stages(h.API.Role, h.API.Bootstrap, c.Masters == 1)
}

// ClusterFacts gathers what the cluster machine decides on, and why checks that
// something waits for have failed.
func (e Evaluator) ClusterFacts(c *store.Cluster, members []*Member, outcome validations.ClusterOutcome) (clustermachine.Facts, string) {
	prepared := c.API.LastInstallationPreparation.Status
	f := clustermachine.Facts{
		InputMissing: outcome.InputMissing, ValidationsPass: outcome.Pass,
		Prepared:          prepared == wire.LastInstallationPreparationStatusSuccess,
		PreparationFailed: prepared == wire.LastInstallationPreparationStatusFailed,
		// A host that was removed is not among the members any more.
		AllPrepared: len(members) > 0, HostLeft: len(members) < max(1, c.Masters+c.Arbiters+c.Workers), HostsSettled: true, Finalized: true,
		SingleNode: SingleNode(c), InState: e.ageOf(c.API.StatusUpdatedAt),
		PrepareTimeout: e.Timers.Prepare + clusterExtra, SoftTimeouts: e.Timers.Soft,
	}
	for _, m := range members {
		s := m.Status
		f.AllPrepared = f.AllPrepared && s == wire.HostStatusPreparingSuccessful
		f.HostFailed = f.HostFailed || s == wire.HostStatusPreparingFailed || s == wire.HostStatusInsufficient
		f.HostLeft = f.HostLeft || !slices.Contains([]string{
			wire.HostStatusKnown, wire.HostStatusPreparingForInstallation,
			wire.HostStatusPreparingSuccessful, wire.HostStatusPreparingFailed, wire.HostStatusInsufficient,
		}, s)
		f.HostWaits = f.HostWaits || s == wire.HostStatusInstallingPendingUserAction
		f.HostsSettled = f.HostsSettled && (IsUp(s) || s == wire.HostStatusError)
		count(&f.Hosts, m)
	}
	f.Inside, f.Finalized = c.Supervised, finalized(c)
	f.MinMasters = minMasters(c, f.Hosts.Arbiters)
	f.StageTimedOut, f.StageMayFail, f.StageFlagged = e.finalizingStage(c)
	f.LogsTimedOut = e.clusterLogsTimedOut(c)
	return f, strings.Join(outcome.Failures, "; ")
}

// minMasters is how many control-plane hosts make a cluster with so many arbiters: what
// was asked for, and for a cluster with a release what its quorum needs.
func minMasters(c *store.Cluster, arbiters int) int {
	switch {
	case c.API.OpenshiftVersion == "":
		return c.Masters
	case max(c.Arbiters, arbiters) > 0:
		return 2
	}
	return 3
}

func count(n *clustermachine.Counts, m *Member) {
	all, up, coming := &n.Masters, &n.MastersUp, &n.MastersComing
	switch m.Role {
	case wire.HostRoleWorker:
		all, up, coming = &n.Workers, &n.WorkersUp, &n.WorkersComing
	case wire.HostRoleArbiter:
		all, up, coming = &n.Arbiters, &n.ArbitersUp, &n.ArbitersComing
	default: // a host without a role counts as what is needed first
	}
	*all++
	switch {
	case IsUp(m.Status):
		*up++
	case slices.Contains(hostmachine.Installing, m.Status) || slices.Contains(hostmachine.Preparing, m.Status):
		*coming++
	}
}

// GoesOnWithout tells that the other hosts still make a cluster, or make one already.
func GoesOnWithout(c *store.Cluster, members []*Member, host store.HostKey) bool {
	if instructions.IsDayTwo(&c.API) {
		return true
	}
	f := clustermachine.Facts{SingleNode: SingleNode(c)}
	for _, m := range members {
		if m.Key == host {
			lost := *m
			lost.Status = wire.HostStatusError
			m = &lost
		}
		count(&f.Hosts, m)
	}
	f.MinMasters = minMasters(c, f.Hosts.Arbiters)
	return f.Possible()
}

// ClusterInput is what the checks of a cluster look at.
func (e Evaluator) ClusterInput(c *store.Cluster, g *Group) (validations.ClusterInput, validations.Lists) {
	in := validations.ClusterInput{ClusterFacts: g.Facts, Statuses: make(map[string]string, len(g.Members)), Manifests: len(c.Manifests)}
	for _, m := range g.Members {
		in.Statuses[m.ID] = m.Status
	}
	return in, validations.Lists{Ignored: idList(c.API.IgnoredClusterValidations), Disabled: e.Checks.DisabledCluster}
}

// FirstReason is what made the installation fail.
func FirstReason(members []*Member) string {
	for _, m := range members {
		if m.Status == wire.HostStatusError {
			return m.Label + ": " + m.Reason
		}
	}
	return ""
}

// Sum is how far a cluster is, with its hosts counted.
type Sum struct {
	Progress     wire.ClusterProgressInfo
	Hosts, Known int64
}

// SumUp counts the hosts and adds their progress up: a tenth for preparing,
// seven tenths for installing, two for what the cluster does by itself.
func SumUp(c *store.Cluster, members []*Member) Sum {
	out := Sum{Hosts: int64(len(members))}
	var sum int64
	for _, m := range members {
		if m.Status == wire.HostStatusKnown {
			out.Known++
		}
		sum += m.Percent
	}
	p := &out.Progress
	switch c.API.Status {
	case wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts:
		p.PreparingForInstallationStagePercentage, p.InstallingStagePercentage, p.FinalizingStagePercentage = 100, 100, 100
	case wire.ClusterStatusInstalling, wire.ClusterStatusFinalizing, wire.ClusterStatusInstallingPendingUserAction, wire.ClusterStatusError:
		p.PreparingForInstallationStagePercentage = 100
		p.InstallingStagePercentage = sum / int64(max(len(members), 1))
	}
	keepStage(p, c)
	p.TotalPercentage = (p.PreparingForInstallationStagePercentage + 7*p.InstallingStagePercentage + 2*p.FinalizingStagePercentage) / 10
	return out
}

// CalledOff is why an installation does not begin by itself that was called off before it began.
const CalledOff = "the installation was called off; start it, or hold the cluster and release it"

// WaitingFor says what a host that is ready waits for, and who can end it; c is
// nil for an unbound host.
func WaitingFor(h *store.Host, c *store.Cluster) string {
	switch {
	case c == nil:
		return ""
	case c.AutoInstall && !h.Approved:
		return "waiting for approval; approve the host"
	case c.Hold:
		return "the installation is on hold; release the cluster"
	case c.CalledOff:
		return CalledOff
	case h.Unprepared != "" && instructions.IsDayTwo(&c.API):
		return "the installation could not be prepared, the hub tries again: " + h.Unprepared
	case slices.Contains([]string{wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput}, c.API.Status):
		// What it lacks is in its own text: repeated here, each host that gets ready would change all others.
		return "waiting for cluster " + c.API.Name + ", which is " + c.API.Status + "; its status says what it lacks"
	case !c.AutoInstall:
		return "waiting for the installation of cluster " + c.API.Name + " to be started"
	case c.API.LastInstallationPreparation.Status == wire.LastInstallationPreparationStatusFailed:
		return "the installation could not be prepared, the hub tries again: " + c.API.LastInstallationPreparation.Reason
	}
	return ""
}

// Hurry tells that the host is asked to come back soon: it is on its way to an
// installation, not waiting for a person. c is nil for an unbound host.
func Hurry(h *store.Host, c *store.Cluster) bool {
	switch h.API.Status {
	case wire.HostStatusKnown:
		return c != nil && (c.AutoInstall && h.Approved && !c.Hold && !c.CalledOff || c.API.Status == wire.ClusterStatusPreparingForInstallation)
	case wire.HostStatusInstallingInProgress, wire.HostStatusError, wire.HostStatusCancelled:
		return false
	}
	return true
}
