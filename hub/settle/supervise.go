package settle

import (
	"errors"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Kubeconfig is the file of a cluster's Ignition source with its first credentials.
// A source that has it makes clusters in which a program reports how they come up.
const Kubeconfig = "kubeconfig-noingress"

// operatorTimeout is how long one of a cluster's own operators may take, in seconds.
const operatorTimeout = 70 * 60

// Supervise notes whether somebody inside the cluster will report the end of its
// installation, and on what.
func (w *Work) Supervise(c *store.Cluster) error {
	_, err := w.units.Ignition.Role(w.Context(), c.API.ID, Kubeconfig)
	if err != nil && !errors.Is(err, ignition.ErrNone) {
		return err
	}
	c.Supervised, c.Routed, c.API.MonitoredOperators = err == nil, false, nil
	if !c.Supervised {
		return nil
	}
	for _, name := range []string{"console", "cvo"} {
		c.API.MonitoredOperators = append(c.API.MonitoredOperators, wire.MonitoredOperator{
			ClusterID: c.API.ID, Name: name, OperatorType: wire.OperatorTypeBuiltin, TimeoutSeconds: operatorTimeout,
		})
	}
	return nil
}
