package operators

import (
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// ownTimeout is how long one of a release's own operators may take, in seconds.
const ownTimeout = 70 * 60

// Own are those that every release has, as a cluster shows them.
func Own(clusterID string) (own []wire.MonitoredOperator) {
	for _, name := range []string{"console", "cvo"} {
		own = append(own, wire.MonitoredOperator{
			ClusterID: clusterID, Name: name, OperatorType: wire.OperatorTypeBuiltin, TimeoutSeconds: ownTimeout,
		})
	}
	return own
}

// unprepared are the statuses of a cluster in which nobody has said yet who reports.
var unprepared = []string{
	wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput, wire.ClusterStatusReady, wire.ClusterStatusPreparingForInstallation,
}

// Reported are those of the cluster that are reported on; before the installation those that will be.
func Reported(c *wire.Cluster) []wire.MonitoredOperator {
	own := slices.ContainsFunc(c.MonitoredOperators, func(o wire.MonitoredOperator) bool { return o.OperatorType == wire.OperatorTypeBuiltin })
	if own || c.OpenshiftVersion == "" || c.Kind != wire.ClusterKindCluster || !slices.Contains(unprepared, c.Status) {
		return c.MonitoredOperators
	}
	return append(Own(c.ID), c.MonitoredOperators...)
}
