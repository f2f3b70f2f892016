package settle

import (
	"slices"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// operatorTimeout is how long one of a cluster's own operators may take, in seconds.
const operatorTimeout = 70 * 60

// supervise notes who reports the end of the installation that begins: the source said so
// when it made the cluster's files.
func (w *Work) supervise(c *store.Cluster, p *proven) {
	c.Supervised, c.Routed, c.Completed, c.API.MonitoredOperators = p.ending == sources.EndsInside, false, false, nil
	if !c.Supervised || c.API.OpenshiftVersion == "" {
		return // only a release has operators of its own
	}
	c.API.MonitoredOperators = ownOperators(c.API.ID)
}

// ownOperators are those that every release has.
func ownOperators(clusterID string) (own []wire.MonitoredOperator) {
	for _, name := range []string{"console", "cvo"} {
		own = append(own, wire.MonitoredOperator{
			ClusterID: clusterID, Name: name, OperatorType: wire.OperatorTypeBuiltin, TimeoutSeconds: operatorTimeout,
		})
	}
	return own
}

// unprepared are the statuses in which nobody has said yet who reports.
var unprepared = []string{
	wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput, wire.ClusterStatusReady, wire.ClusterStatusPreparingForInstallation,
}

// Operators are those that are reported on; before the installation those that will be.
func Operators(c *wire.Cluster) []wire.MonitoredOperator {
	if len(c.MonitoredOperators) > 0 || c.OpenshiftVersion == "" || c.Kind != wire.ClusterKindCluster || !slices.Contains(unprepared, c.Status) {
		return c.MonitoredOperators
	}
	return ownOperators(c.ID)
}
