package settle

import (
	"context"
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

// IsSupervised asks the Ignition source whether somebody inside the cluster will report the
// end of its installation. That may take a while, so it is asked before the unit of work.
func (u *Units) IsSupervised(ctx context.Context, clusterID string) (bool, error) {
	_, err := u.Ignition.Role(ctx, clusterID, Kubeconfig)
	if errors.Is(err, ignition.ErrNone) {
		return false, nil
	}
	return err == nil, err
}

// Supervise notes whether somebody inside the cluster will report the end of its
// installation, and on what.
func (w *Work) Supervise(c *store.Cluster, supervised bool) {
	c.Supervised, c.Routed, c.API.MonitoredOperators = supervised, false, nil
	if !supervised {
		return
	}
	for _, name := range []string{"console", "cvo"} {
		c.API.MonitoredOperators = append(c.API.MonitoredOperators, wire.MonitoredOperator{
			ClusterID: c.API.ID, Name: name, OperatorType: wire.OperatorTypeBuiltin, TimeoutSeconds: operatorTimeout,
		})
	}
}
