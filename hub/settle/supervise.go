package settle

import (
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
	for _, name := range []string{"console", "cvo"} {
		c.API.MonitoredOperators = append(c.API.MonitoredOperators, wire.MonitoredOperator{
			ClusterID: c.API.ID, Name: name, OperatorType: wire.OperatorTypeBuiltin, TimeoutSeconds: operatorTimeout,
		})
	}
}
