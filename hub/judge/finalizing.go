package judge

import (
	"slices"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// FinalizingStages are in the order in which a cluster passes them.
var FinalizingStages = []wire.FinalizingStage{
	wire.FinalizingStageWaitingForClusterOperators, wire.FinalizingStageAddingRouterCa, wire.FinalizingStageApplyingOlmManifests,
	wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization, wire.FinalizingStageWaitingForOlmOperatorsCsv,
	wire.FinalizingStageWaitingForOlmOperatorSetupJobs, wire.FinalizingStageDone,
}

// finalized tells that what runs inside the cluster has come up: the certificate of
// its routes is here, and its own operators are available. A cluster in which
// nobody reports has nothing to wait for.
func finalized(c *store.Cluster) bool {
	return !c.Supervised || c.Routed && !slices.ContainsFunc(c.API.MonitoredOperators, func(o wire.MonitoredOperator) bool {
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
