package settle

import (
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/judge"
	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// clusterFacts gathers what the cluster machine decides on, and why its checks failed.
func (w *Work) clusterFacts(c *store.Cluster, hosts []*store.Host) (clustermachine.Facts, string, error) {
	_, outcome, err := w.judgeCluster(c, hosts)
	if err != nil {
		return clustermachine.Facts{}, "", err
	}
	facts, why := w.ClusterFacts(c, hosts, outcome)
	return facts, why, nil
}

// TriggerCluster asks the cluster machine and applies its decision.
func (w *Work) TriggerCluster(c *store.Cluster, trigger string) error {
	hosts, err := w.HostsOf(c.API.ID)
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
func (w *Work) refreshCluster(c *store.Cluster) (bool, error) {
	hosts, err := w.HostsOf(c.API.ID)
	if err != nil {
		return false, err
	}
	w.noteSum(c, hosts)
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
		why = judge.FirstReason(hosts)
	case wire.ClusterStatusReady:
		why = c.API.LastInstallationPreparation.Reason
	case wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput:
	default:
		why = ""
	}
	return decision.Changed, w.applyCluster(c, hosts, decision, why)
}

func (w *Work) applyCluster(c *store.Cluster, hosts []*store.Host, d rules.Decision, why string) error {
	info := d.Info
	if why != "" && info != "" {
		info += ": " + why
	}
	if !d.Changed && len(d.Effects) == 0 {
		if info != "" && info != c.API.StatusInfo {
			c.API.StatusInfo = info
			w.TouchCluster(c)
		}
		return nil
	}
	from := c.API.Status
	if d.Changed {
		c.API.Status, c.API.StatusInfo, c.API.StatusUpdatedAt = d.To, info, w.At()
	}
	for _, effect := range d.Effects {
		if err := w.clusterEffect(c, hosts, effect); err != nil {
			return err
		}
	}
	w.TouchCluster(c)
	if !d.Changed {
		return nil
	}
	if from == wire.ClusterStatusPreparingForInstallation {
		if err := w.CallOff(prepareJob, c.API.ID); err != nil {
			return err
		}
	}
	return w.clusterStatusEvents(c, from)
}

func (w *Work) clusterStatusEvents(c *store.Cluster, from string) error {
	severity := wire.EventSeverityInfo
	if c.API.Status == wire.ClusterStatusError {
		severity = wire.EventSeverityError
	}
	err := w.ClusterEvent(c, "cluster_status_updated", severity, c.API.Status+" ("+c.API.StatusInfo+")",
		unit.Props{"src_status": from, "cluster_status": c.API.Status, "status_info": c.API.StatusInfo})
	if err != nil {
		return err
	}
	switch c.API.Status {
	case wire.ClusterStatusInstalled:
		return w.ClusterEvent(c, "cluster_installation_completed", wire.EventSeverityInfo, "the installation is complete", nil)
	case wire.ClusterStatusError:
		return w.ClusterEvent(c, "cluster_installation_failed", wire.EventSeverityCritical, c.API.StatusInfo, unit.Props{"failure_reason": c.API.StatusInfo})
	case wire.ClusterStatusCancelled:
		return w.ClusterEvent(c, "cluster_installation_canceled", wire.EventSeverityInfo, "the installation was cancelled", nil)
	}
	return nil
}

func (w *Work) clusterEffect(c *store.Cluster, hosts []*store.Host, effect string) error {
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
		c.API.InstallStartedAt = w.At()
	case clustermachine.InstallCompleted:
		c.API.InstallCompletedAt = w.At()
	case clustermachine.BecomeDayTwo:
		c.API.Kind = wire.ClusterKindAddHostsCluster
	case clustermachine.LogsTimeout:
		c.API.LogsInfo = wire.LogsStateTimeout
	}
	return nil
}

func (w *Work) triggerAll(hosts []*store.Host, trigger string) error {
	for _, h := range hosts {
		if err := w.Trigger(h, trigger, ""); err != nil {
			return err
		}
	}
	return nil
}

// noteSum stores how far the cluster is when that changed.
func (w *Work) noteSum(c *store.Cluster, hosts []*store.Host) {
	sum := judge.SumUp(c, hosts)
	if c.API.Progress != nil && *c.API.Progress == sum.Progress && c.API.TotalHostCount == sum.Hosts && c.API.ReadyHostCount == sum.Known {
		return
	}
	c.API.Progress, c.API.TotalHostCount, c.API.EnabledHostCount, c.API.ReadyHostCount = &sum.Progress, sum.Hosts, sum.Hosts, sum.Known
	w.TouchCluster(c)
}
