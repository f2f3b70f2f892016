package service

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// clusterFacts gathers what the cluster machine decides on.
func (w *work) clusterFacts(c *store.Cluster, hosts []*store.Host) (clustermachine.Facts, string, error) {
	_, outcome, err := w.judgeCluster(c, hosts)
	if err != nil {
		return clustermachine.Facts{}, "", err
	}
	prepared := c.API.LastInstallationPreparation.Status
	f := clustermachine.Facts{
		InputMissing: outcome.InputMissing, ValidationsPass: outcome.Pass,
		Prepared:          prepared == wire.LastInstallationPreparationStatusSuccess,
		PreparationFailed: prepared == wire.LastInstallationPreparationStatusFailed,
		AllPrepared:       len(hosts) > 0, HostsSettled: true, Finalized: true,
		SingleNode: singleNode(c), MinMasters: minMasters(c), InState: w.ageOf(c.API.StatusUpdatedAt),
		PrepareTimeout: w.hub.timers.Prepare + clusterExtra, SoftTimeouts: w.hub.timers.Soft,
	}
	for _, h := range hosts {
		s := h.API.Status
		f.AllPrepared = f.AllPrepared && s == wire.HostStatusPreparingSuccessful
		f.HostFailed = f.HostFailed || s == wire.HostStatusPreparingFailed || s == wire.HostStatusInsufficient
		f.HostLeft = f.HostLeft || !slices.Contains([]string{
			wire.HostStatusKnown, wire.HostStatusPreparingForInstallation,
			wire.HostStatusPreparingSuccessful, wire.HostStatusPreparingFailed, wire.HostStatusInsufficient,
		}, s)
		f.HostWaits = f.HostWaits || s == wire.HostStatusInstallingPendingUserAction
		f.HostsSettled = f.HostsSettled && (isUp(s) || s == wire.HostStatusError)
		count(&f.Hosts, h)
	}
	return f, strings.Join(outcome.Failures, "; "), nil
}

// minMasters is how many control-plane hosts make a cluster: what was asked
// for, and for a cluster with a release what its quorum needs.
func minMasters(c *store.Cluster) int {
	switch {
	case c.API.OpenshiftVersion == "":
		return c.Masters
	case c.Arbiters > 0:
		return 2
	}
	return 3
}

func isUp(status string) bool {
	return status == wire.HostStatusInstalled || status == wire.HostStatusAddedToExistingCluster
}

func count(n *clustermachine.Counts, h *store.Host) {
	all, up, coming := &n.Masters, &n.MastersUp, &n.MastersComing
	switch h.API.Role {
	case wire.HostRoleWorker:
		all, up, coming = &n.Workers, &n.WorkersUp, &n.WorkersComing
	case wire.HostRoleArbiter:
		all, up, coming = &n.Arbiters, &n.ArbitersUp, &n.ArbitersComing
	default: // a host without a role counts as what is needed first
	}
	*all++
	switch {
	case isUp(h.API.Status):
		*up++
	case slices.Contains(hostmachine.Installing, h.API.Status) || slices.Contains(hostmachine.Preparing, h.API.Status):
		*coming++
	}
}

// triggerCluster asks the cluster machine and applies its decision.
func (w *work) triggerCluster(c *store.Cluster, trigger string) error {
	hosts, err := w.hostsOf(c.API.ID)
	if err != nil {
		return err
	}
	facts, _, err := w.clusterFacts(c, hosts)
	if err != nil {
		return err
	}
	decision, err := clustermachine.Machine.Decide(trigger, c.API.Status, facts)
	if err != nil {
		return err
	}
	return w.applyCluster(c, hosts, decision, "")
}

// refreshCluster looks at the cluster again and reports whether its status changed.
func (w *work) refreshCluster(c *store.Cluster) (bool, error) {
	hosts, err := w.hostsOf(c.API.ID)
	if err != nil {
		return false, err
	}
	w.sumUp(c, hosts)
	if err := w.noteCluster(c, hosts); err != nil {
		return false, err
	}
	facts, why, err := w.clusterFacts(c, hosts)
	if err != nil {
		return false, err
	}
	decision, err := clustermachine.Machine.Decide(clustermachine.Refresh, c.API.Status, facts)
	if err != nil {
		return false, err
	}
	switch decision.To {
	case wire.ClusterStatusError:
		why = firstReason(hosts)
	case wire.ClusterStatusReady:
		why = c.API.LastInstallationPreparation.Reason
	case wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput:
	default:
		why = ""
	}
	return decision.Changed, w.applyCluster(c, hosts, decision, why)
}

// firstReason is what made the installation fail.
func firstReason(hosts []*store.Host) string {
	for _, h := range hosts {
		if h.API.Status == wire.HostStatusError {
			return HostName(h) + ": " + h.Reason
		}
	}
	return ""
}

func (w *work) applyCluster(c *store.Cluster, hosts []*store.Host, d rules.Decision, why string) error {
	info := d.Info
	if why != "" && info != "" {
		info += ": " + why
	}
	if !d.Changed && len(d.Effects) == 0 {
		if info != "" && info != c.API.StatusInfo {
			c.API.StatusInfo = info
			w.touchCluster(c)
		}
		return nil
	}
	from := c.API.Status
	if d.Changed {
		c.API.Status, c.API.StatusInfo, c.API.StatusUpdatedAt = d.To, info, w.at()
	}
	for _, effect := range d.Effects {
		if err := w.clusterEffect(c, hosts, effect); err != nil {
			return err
		}
	}
	w.touchCluster(c)
	if !d.Changed {
		return nil
	}
	return w.clusterStatusEvents(c, from)
}

func (w *work) clusterStatusEvents(c *store.Cluster, from string) error {
	severity := wire.EventSeverityInfo
	if c.API.Status == wire.ClusterStatusError {
		severity = wire.EventSeverityError
	}
	err := w.clusterEvent(c, "cluster_status_updated", severity, c.API.Status+" ("+c.API.StatusInfo+")",
		props{"src_status": from, "cluster_status": c.API.Status, "status_info": c.API.StatusInfo})
	if err != nil {
		return err
	}
	switch c.API.Status {
	case wire.ClusterStatusInstalled:
		return w.clusterEvent(c, "cluster_installation_completed", wire.EventSeverityInfo, "the installation is complete", nil)
	case wire.ClusterStatusError:
		return w.clusterEvent(c, "cluster_installation_failed", wire.EventSeverityCritical, c.API.StatusInfo, props{"failure_reason": c.API.StatusInfo})
	case wire.ClusterStatusCancelled:
		return w.clusterEvent(c, "cluster_installation_canceled", wire.EventSeverityInfo, "the installation was cancelled", nil)
	}
	return nil
}

func (w *work) clusterEffect(c *store.Cluster, hosts []*store.Host, effect string) error {
	switch effect {
	case clustermachine.StartPreparation:
		return w.prepare(c, hosts)
	case clustermachine.ResetHosts:
		c.API.LastInstallationPreparation = wire.LastInstallationPreparation{}
		c.API.InstallStartedAt, c.API.InstallCompletedAt = wire.DateTime{}, wire.DateTime{}
		return w.triggerAll(hosts, hostmachine.ResettingPendingUserAction)
	case clustermachine.CancelHosts:
		return w.triggerAll(hosts, hostmachine.Cancel)
	case clustermachine.InstallStarted:
		c.API.InstallStartedAt = w.at()
	case clustermachine.InstallCompleted:
		c.API.InstallCompletedAt = w.at()
	case clustermachine.BecomeDayTwo:
		c.API.Kind = wire.ClusterKindAddHostsCluster
	case clustermachine.LogsTimeout:
		c.API.LogsInfo = wire.LogsStateTimeout
	}
	return nil
}

func (w *work) triggerAll(hosts []*store.Host, trigger string) error {
	for _, h := range hosts {
		if err := w.trigger(h, trigger, ""); err != nil {
			return err
		}
	}
	return nil
}

// sumUp counts the hosts and adds their progress up: a tenth for preparing,
// seven tenths for installing, two for what the cluster does by itself.
func (w *work) sumUp(c *store.Cluster, hosts []*store.Host) {
	var ready, sum int64
	for _, h := range hosts {
		if h.API.Status == wire.HostStatusKnown {
			ready++
		}
		if h.API.Progress != nil {
			sum += h.API.Progress.InstallationPercentage
		}
	}
	p := wire.ClusterProgressInfo{}
	switch c.API.Status {
	case wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts:
		p.PreparingForInstallationStagePercentage, p.InstallingStagePercentage, p.FinalizingStagePercentage = 100, 100, 100
	case wire.ClusterStatusInstalling, wire.ClusterStatusFinalizing, wire.ClusterStatusInstallingPendingUserAction, wire.ClusterStatusError:
		p.PreparingForInstallationStagePercentage = 100
		p.InstallingStagePercentage = sum / int64(max(len(hosts), 1))
	}
	p.TotalPercentage = (p.PreparingForInstallationStagePercentage + 7*p.InstallingStagePercentage + 2*p.FinalizingStagePercentage) / 10
	total := int64(len(hosts))
	if c.API.Progress != nil && *c.API.Progress == p && c.API.TotalHostCount == total && c.API.ReadyHostCount == ready {
		return
	}
	c.API.Progress, c.API.TotalHostCount, c.API.EnabledHostCount, c.API.ReadyHostCount = &p, total, total, ready
	w.touchCluster(c)
}

// mayRepeat tells that a preparation is not tried again too soon.
func (w *work) mayRepeat(c *store.Cluster) bool {
	return c.PreparedAt.IsZero() || w.hub.due(c)
}
