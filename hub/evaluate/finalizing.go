package evaluate

import (
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// FinalizingStages are in the order in which a cluster passes them.
var FinalizingStages = []wire.FinalizingStage{
	wire.FinalizingStageWaitingForClusterOperators, wire.FinalizingStageAddingRouterCa, wire.FinalizingStageApplyingOlmManifests,
	wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization, wire.FinalizingStageWaitingForOlmOperatorsCsv,
	wire.FinalizingStageWaitingForOlmOperatorSetupJobs, wire.FinalizingStageDone,
}

// finalizingLimits are the protocol's limits of the stages; the others have seventy
// minutes. With soft limits, operators of the cluster have no more either.
var finalizingLimits = map[wire.FinalizingStage]time.Duration{
	wire.FinalizingStageWaitingForClusterOperators:     10 * time.Hour,
	wire.FinalizingStageApplyingOlmManifests:           10 * time.Minute,
	wire.FinalizingStageWaitingForOlmOperatorSetupJobs: 10 * time.Minute,
	wire.FinalizingStageDone:                           0,
	"":                                                 0,
}

const othersLimit = 70 * time.Minute

// Harmless are the stages that never make the cluster fail: it is up without them.
var Harmless = []wire.FinalizingStage{
	wire.FinalizingStageApplyingOlmManifests, wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization, wire.FinalizingStageWaitingForOlmOperatorsCsv,
}

// FinalizingLimit is how long the cluster may be at its stage; zero for ever.
func (t Timers) FinalizingLimit(stage wire.FinalizingStage) time.Duration {
	if own, ok := t.Finalizing[stage]; ok {
		return own
	}
	if t.Soft && stage == wire.FinalizingStageWaitingForClusterOperators {
		return othersLimit
	}
	if limit, ok := finalizingLimits[stage]; ok {
		return limit
	}
	return othersLimit
}

// finalizingStage tells of the cluster's stage whether it takes too long, whether the
// cluster fails with it, and whether that was said before.
func (e Evaluator) finalizingStage(c *store.Cluster) (over, mayFail, flagged bool) {
	p := c.API.Progress
	if p == nil {
		return false, false, false
	}
	limit := e.finalizingLimit(c, p.FinalizingStage)
	over = limit > 0 && e.ageOf(p.FinalizingStageStartedAt) > limit
	return over, !slices.Contains(Harmless, p.FinalizingStage), p.FinalizingStageTimedOut
}

// finalizingOver is when the cluster's stage has taken too long.
func (e Evaluator) finalizingOver(c *store.Cluster) time.Time {
	if p := c.API.Progress; p != nil {
		return e.over(p.FinalizingStageStartedAt, e.finalizingLimit(c, p.FinalizingStage))
	}
	return time.Time{}
}

// finalized tells that what runs inside the cluster has come up: the certificate of
// its routes is here, its own operators are available, and those beside its release are or
// have failed; one without a release has
// neither, and its program says when it is complete. A cluster in which nobody reports
// has nothing to wait for.
func finalized(c *store.Cluster) bool {
	if c.API.OpenshiftVersion == "" {
		return !c.Supervised || c.Completed
	}
	return !c.Supervised || c.Routed && settled(c) && !slices.ContainsFunc(c.API.MonitoredOperators, func(o wire.MonitoredOperator) bool {
		return o.OperatorType == wire.OperatorTypeBuiltin && o.Status != wire.OperatorStatusAvailable
	})
}

// keepStage keeps what the cluster itself has reported of its end.
func keepStage(p *wire.ClusterProgressInfo, c *store.Cluster) {
	was := c.API.Progress
	if was == nil {
		return
	}
	p.FinalizingStage, p.FinalizingStageStartedAt, p.FinalizingStageTimedOut = was.FinalizingStage, was.FinalizingStageStartedAt, was.FinalizingStageTimedOut
	p.FinalizingStagePercentage = max(p.FinalizingStagePercentage, finalizingPercent(was.FinalizingStage))
}

func finalizingPercent(stage wire.FinalizingStage) int64 {
	return int64(100 * (slices.Index(FinalizingStages, stage) + 1) / len(FinalizingStages))
}
