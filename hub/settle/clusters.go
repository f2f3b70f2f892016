package settle

import (
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// TriggerCluster asks the cluster machine and applies its decision.
func (w *Work) TriggerCluster(c *store.Cluster, trigger string) error {
	return w.TriggerClusterFor(c, trigger, "")
}

// TriggerClusterFor does the same for a reason, which becomes part of the status text.
func (w *Work) TriggerClusterFor(c *store.Cluster, trigger, reason string) error {
	g, err := w.group(c)
	if err != nil {
		return err
	}
	facts, _ := w.ClusterFacts(c, g.Members, validations.Cluster(w.ClusterInput(c, g)))
	decision, err := clustermachine.Machine.Decide(trigger, c.API.Status, facts)
	if err != nil {
		return err
	}
	return w.applyCluster(c, decision, reason)
}

// refreshCluster looks at the cluster again and reports whether its status changed.
func (w *Work) refreshCluster(c *store.Cluster) (bool, error) {
	if err := w.orderNodeZero(c); err != nil {
		return false, err
	}
	g, err := w.group(c)
	if err != nil {
		return false, err
	}
	w.noteSum(c, g)
	if err := w.noteCluster(c, g); err != nil {
		return false, err
	}
	facts, why := w.ClusterFacts(c, g.Members, validations.Cluster(w.ClusterInput(c, g)))
	decision, err := clustermachine.Machine.Decide(clustermachine.Refresh, c.API.Status, facts)
	if err != nil {
		return false, err
	}
	switch decision.To {
	case wire.ClusterStatusError:
		why = evaluate.FirstReason(g.Members)
	case wire.ClusterStatusReady:
		why = c.API.LastInstallationPreparation.Reason
	case wire.ClusterStatusInstalled:
		why = evaluate.Degraded(c, g.Members)
	case wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput:
	default:
		why = ""
	}
	return decision.Changed, w.applyCluster(c, decision, why)
}

func (w *Work) applyCluster(c *store.Cluster, d rules.Decision, why string) error {
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
		if err := w.clusterEffect(c, effect); err != nil {
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

// RemoveCluster forgets a cluster and calls off what is made for it.
func (w *Work) RemoveCluster(c *store.Cluster) error {
	if err := w.CallOff(prepareJob, c.API.ID); err != nil {
		return err
	}
	w.ForgetCluster(c)
	return nil
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
		done := "the installation is complete"
		if !c.Supervised {
			done = "its hosts are installed; nobody inside it tells the hub whether it runs"
		}
		return w.ClusterEvent(c, "cluster_installation_completed", wire.EventSeverityInfo, done, nil)
	case wire.ClusterStatusError:
		return w.ClusterEvent(c, "cluster_installation_failed", wire.EventSeverityCritical, c.API.StatusInfo, unit.Props{"failure_reason": c.API.StatusInfo})
	case wire.ClusterStatusCancelled:
		return w.ClusterEvent(c, "cluster_installation_canceled", wire.EventSeverityInfo, "the installation was cancelled", nil)
	}
	return nil
}

func (w *Work) clusterEffect(c *store.Cluster, effect string) error {
	switch effect {
	case clustermachine.StartPreparation:
		return w.prepare(c)
	case clustermachine.ResetHosts:
		if err := w.dropMade(c, nil); err != nil {
			return err
		}
		c.Preparations, c.Routed, c.CalledOff = 0, false, false
		c.Resets++
		c.API.LastInstallationPreparation = wire.LastInstallationPreparation{}
		c.API.InstallStartedAt, c.API.InstallCompletedAt = wire.DateTime{}, wire.DateTime{}
		c.API.Progress = nil
		w.NoteOperators(c)
		c.API.LogsInfo, c.API.ControllerLogsStartedAt, c.API.ControllerLogsCollectedAt = "", wire.DateTime{}, wire.DateTime{}
		return w.triggerAll(c, hostmachine.ResettingPendingUserAction)
	case clustermachine.CancelHosts:
		if c.API.Status == wire.ClusterStatusCancelled {
			c.API.InstallCompletedAt = w.At()
		} else { // before it began
			w.callOff(c)
		}
		return w.triggerAll(c, hostmachine.Cancel)
	case clustermachine.InstallStarted:
		c.API.InstallStartedAt, c.Preparations = w.At(), 0
	case clustermachine.InstallCompleted:
		c.API.InstallCompletedAt = w.At()
	case clustermachine.BecomeDayTwo:
		c.API.Kind = wire.ClusterKindAddHostsCluster
		if c.API.OpenshiftVersion != "" && !c.Stays {
			c.Supervised = false // who brought the program inside a release has it end with the installation
		}
	case clustermachine.LogsTimeout:
		c.API.LogsInfo = wire.LogsStateTimeout
	case clustermachine.TellPreparation:
		return w.ClusterEvent(c, "installation_preparing_timed_out", wire.EventSeverityWarning, "its installation could not be prepared in time", unit.Props{"reason": c.API.StatusInfo})
	case clustermachine.FlagStage:
		return w.flagStage(c)
	}
	return nil
}

// callOff keeps an installation that was called off before it began from beginning by itself:
// it would cost what is on the disks of its hosts.
func (w *Work) callOff(c *store.Cluster) {
	c.CalledOff = c.AutoInstall
	if c.CalledOff {
		c.API.LastInstallationPreparation = wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusNotStarted, Reason: evaluate.CalledOff}
	}
}

// flagStage says once that the cluster's stage takes too long.
func (w *Work) flagStage(c *store.Cluster) error {
	progress := *c.API.Progress
	progress.FinalizingStageTimedOut = true
	c.API.Progress = &progress
	return w.ClusterEvent(c, "finalizing_stage_timed_out", wire.EventSeverityWarning, "stage "+string(progress.FinalizingStage)+" takes longer than usual",
		unit.Props{"stage": progress.FinalizingStage, "minutes": minutes(w.Now, progress.FinalizingStageStartedAt)})
}

// triggerAll gives the trigger to all hosts of the cluster that have a use for it.
func (w *Work) triggerAll(c *store.Cluster, trigger string) error {
	hosts, err := w.HostsOf(c.API.ID)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if err := w.TryTrigger(h, trigger, ""); err != nil {
			return err
		}
	}
	return nil
}

// noteSum stores how far the cluster is when that changed.
func (w *Work) noteSum(c *store.Cluster, g *evaluate.Group) {
	sum := evaluate.SumUp(c, g.Members)
	if c.API.Progress != nil && *c.API.Progress == sum.Progress && c.API.TotalHostCount == sum.Hosts && c.API.ReadyHostCount == sum.Known {
		return
	}
	c.API.Progress, c.API.TotalHostCount, c.API.EnabledHostCount, c.API.ReadyHostCount = &sum.Progress, sum.Hosts, sum.Hosts, sum.Known
	w.TouchCluster(c)
}
