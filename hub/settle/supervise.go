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
	c.API.MonitoredOperators = append(ownOperators(c.API.ID), w.chosen(c)...)
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

// chosen are the operators beside the release that the cluster gets, not reported on yet.
func (w *Work) chosen(c *store.Cluster) []wire.MonitoredOperator {
	all, _ := w.OperatorsOf(c)
	return w.Operators.Monitored(c.API.ID, all)
}

// NoteOperators writes into the record which operators beside the release the cluster gets.
// It is for clusters whose installation has not begun.
func (w *Work) NoteOperators(c *store.Cluster) { c.API.MonitoredOperators = w.chosen(c) }

// unprepared are the statuses in which nobody has said yet who reports.
var unprepared = []string{
	wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput, wire.ClusterStatusReady, wire.ClusterStatusPreparingForInstallation,
}

// Operators are those that are reported on; before the installation those that will be.
func Operators(c *wire.Cluster) []wire.MonitoredOperator {
	own := slices.ContainsFunc(c.MonitoredOperators, func(o wire.MonitoredOperator) bool { return o.OperatorType == wire.OperatorTypeBuiltin })
	if own || c.OpenshiftVersion == "" || c.Kind != wire.ClusterKindCluster || !slices.Contains(unprepared, c.Status) {
		return c.MonitoredOperators
	}
	return append(ownOperators(c.ID), c.MonitoredOperators...)
}
