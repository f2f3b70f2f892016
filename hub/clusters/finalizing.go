package clusters

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// comingUp are the statuses in which a cluster reports how it comes up.
var comingUp = []string{wire.ClusterStatusInstalling, wire.ClusterStatusInstallingPendingUserAction, wire.ClusterStatusFinalizing}

// FinalizingProgress notes the stage that a cluster's own installation has reached.
// The same stage again, and stages of an installed cluster, change nothing.
func (r *Registry) FinalizingProgress(ctx context.Context, clusterID string, stage wire.FinalizingStage) error {
	if !slices.Contains(evaluate.FinalizingStages, stage) {
		return apierror.BadRequest("finalizing_stage %.80q: want one of %q", stage, evaluate.FinalizingStages)
	}
	_, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		switch {
		case c.API.Status == wire.ClusterStatusInstalled || c.API.Progress != nil && c.API.Progress.FinalizingStage == stage:
			return nil
		case !slices.Contains(comingUp, c.API.Status):
			return apierror.Conflict("cluster %s is %s and has no finalizing stage", c.API.Name, c.API.Status)
		}
		progress := wire.ClusterProgressInfo{}
		if c.API.Progress != nil {
			progress = *c.API.Progress
		}
		progress.FinalizingStage, progress.FinalizingStageStartedAt, progress.FinalizingStageTimedOut = stage, w.At(), false
		c.API.Progress = &progress
		w.TouchCluster(c)
		return w.ClusterEvent(c, "cluster_finalizing_stage_updated", wire.EventSeverityInfo, "stage "+string(stage), unit.Props{"finalizing_stage": stage})
	})
	return err
}

// Operators returns the operators whose state the cluster reports; all, or the named one.
func (r *Registry) Operators(ctx context.Context, clusterID, name string) (wire.MonitoredOperatorsList, error) {
	c, err := r.Cluster(ctx, clusterID, false)
	out := wire.MonitoredOperatorsList{}
	for _, o := range operators.Reported(&c) {
		if name == "" || o.Name == name {
			out = append(out, o)
		}
	}
	if err == nil && name != "" && len(out) == 0 {
		return nil, noOperator(c.Name, name)
	}
	return out, err
}

func noOperator(cluster, name string) error {
	return apierror.NotFound("cluster %s has no operator %.80s to report on", cluster, name)
}

// operatorStatuses are those that may be reported.
var operatorStatuses = []wire.OperatorStatus{wire.OperatorStatusFailed, wire.OperatorStatusProgressing, wire.OperatorStatusAvailable}

// maxStatusInfo bounds what is kept of an operator's own words, in bytes.
const maxStatusInfo = 4 << 10

// ReportOperator notes the state of one operator.
func (r *Registry) ReportOperator(ctx context.Context, clusterID string, p wire.OperatorMonitorReport) error {
	if !slices.Contains(operatorStatuses, p.Status) {
		return apierror.BadRequest("status %.40q: want failed, progressing or available", p.Status)
	}
	p.StatusInfo, p.Version = clipped(p.StatusInfo), clipped(p.Version)
	_, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		i := slices.IndexFunc(c.API.MonitoredOperators, func(o wire.MonitoredOperator) bool { return o.Name == p.Name })
		if i < 0 {
			return noOperator(c.API.Name, p.Name)
		}
		c.API.MonitoredOperators = slices.Clone(c.API.MonitoredOperators)
		o := &c.API.MonitoredOperators[i]
		if o.Status == p.Status && o.StatusInfo == p.StatusInfo && o.Version == p.Version {
			return nil
		}
		changed := o.Status != p.Status
		o.Status, o.StatusInfo, o.Version, o.StatusUpdatedAt = p.Status, p.StatusInfo, p.Version, w.At()
		w.TouchCluster(c)
		if !changed {
			return nil
		}
		return w.ClusterEvent(c, "cluster_operator_status", wire.EventSeverityInfo, fmt.Sprintf("operator %s is %s: %s", o.Name, o.Status, o.StatusInfo),
			unit.Props{"operator_name": o.Name, "status": o.Status, "status_info": o.StatusInfo})
	})
	return err
}

// CompleteInstallation is how a program inside a cluster says that it is at its end. For
// a cluster without a release that is the end. For one with a release the hub decides by
// what was reported of its operators. A cluster that is finalizing fails with a failure, unless
// that is one of operators that it can do without: that is put on the timeline.
func (r *Registry) CompleteInstallation(ctx context.Context, clusterID string, p wire.CompletionParams) (wire.Cluster, error) {
	return r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if c.API.Status != wire.ClusterStatusInstalled && !slices.Contains(comingUp, c.API.Status) {
			return apierror.Conflict("cluster %s is %s; it is not being installed", c.API.Name, c.API.Status)
		}
		if p.IsSuccess {
			if c.Supervised && !c.Completed {
				c.Completed = true
				w.TouchCluster(c)
			}
			return nil
		}
		if c.API.Status == wire.ClusterStatusFinalizing && !optionalFailed(c) {
			return w.TriggerClusterFor(c, clustermachine.GiveUp, clipped(p.ErrorInfo))
		}
		return w.ClusterEvent(c, "cluster_degraded_OLM_operators_failed", wire.EventSeverityWarning, "some of its operators failed: "+clipped(p.ErrorInfo),
			unit.Props{"failed_operators": clipped(p.ErrorInfo)})
	})
}

// optionalFailed tells that an operator failed that the cluster runs without.
func optionalFailed(c *store.Cluster) bool {
	return slices.ContainsFunc(c.API.MonitoredOperators, func(o wire.MonitoredOperator) bool {
		return o.OperatorType == wire.OperatorTypeOlm && o.Status == wire.OperatorStatusFailed
	})
}

// clipped bounds a text of a program inside a cluster.
func clipped(text string) string {
	if len(text) > maxStatusInfo {
		text = strings.ToValidUTF8(text[:maxStatusInfo], "")
	}
	return text
}
