package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// AskedOf are the operators that were asked for the cluster.
func AskedOf(c *store.Cluster) operators.Asked {
	return operators.Asked{Operators: c.Operators, Bundles: c.API.OperatorBundles}
}

// OperatorsOf are those that the cluster gets beside its release, with what they need, and
// the names of those that the hub does not offer any more.
func (r *Rules) OperatorsOf(c *store.Cluster) (chosen []operators.Choice, lost []string) {
	asked := AskedOf(c)
	if asked.Nothing() {
		return nil, nil
	}
	return r.Operators.Choose(asked, SingleNode(c))
}

// olmWaiting are the stages in which operators beside the release have their time.
var olmWaiting = []wire.FinalizingStage{
	wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization, wire.FinalizingStageWaitingForOlmOperatorsCsv,
	wire.FinalizingStageWaitingForOlmOperatorSetupJobs,
}

// finalizingLimit is how long the cluster may be at its stage; zero for ever. Stages that
// wait for operators have at least the time of the one that takes longest.
func (e Evaluator) finalizingLimit(c *store.Cluster, stage wire.FinalizingStage) time.Duration {
	limit := e.Timers.FinalizingLimit(stage)
	if limit == 0 || !slices.Contains(olmWaiting, stage) {
		return limit
	}
	for _, o := range c.API.MonitoredOperators {
		if o.OperatorType == wire.OperatorTypeOlm {
			limit = max(limit, time.Duration(o.TimeoutSeconds)*time.Second)
		}
	}
	return limit
}

// settled tells that it is known whether the operators beside the release came up. A
// program inside the cluster that has come to its end has nothing more to say of them.
func settled(c *store.Cluster) bool {
	return c.Completed || !slices.ContainsFunc(c.API.MonitoredOperators, func(o wire.MonitoredOperator) bool {
		return o.OperatorType == wire.OperatorTypeOlm && o.Status != wire.OperatorStatusAvailable && o.Status != wire.OperatorStatusFailed
	})
}

// Degraded says what is not part of an installation that is at its end: hosts that failed,
// and operators beside the release that did not come up. Empty when all is.
func Degraded(c *store.Cluster, members []*Member) string {
	var all []string
	for _, one := range []string{failedHosts(members), failedOperators(c)} {
		if one != "" {
			all = append(all, one)
		}
	}
	return strings.Join(all, "; ")
}

// failedHosts says how many hosts failed, and why the first of them did.
func failedHosts(members []*Member) string {
	failed := 0
	for _, m := range members {
		if m.Status == wire.HostStatusError {
			failed++
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("without all of it, %d of its %d hosts failed: %s", failed, len(members), FirstReason(members))
}

func failedOperators(c *store.Cluster) string {
	var names []string
	for _, o := range c.API.MonitoredOperators {
		if o.OperatorType == wire.OperatorTypeOlm && o.Status != wire.OperatorStatusAvailable {
			names = append(names, o.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("degraded, for operators that did not come up: %s", strings.Join(names, ", "))
}
