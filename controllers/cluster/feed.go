package cluster

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
)

// feed wakes the resource of a cluster whose record changed.
type feed struct {
	hub        Hub
	reconciler *reconciler
	out        chan<- event.GenericEvent
}

// Start implements manager.Runnable.
func (f feed) Start(ctx context.Context) error {
	events, cancel := f.hub.Subscribe()
	defer cancel()
	ticker := time.NewTicker(sweep)
	defer ticker.Stop()
	f.holdStray(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			f.holdStray(ctx)
		case <-f.reconciler.releases.Finished():
			f.wake(ctx, "") // whoever waits for a release knows it
		case e := <-events:
			if e.ClusterID != "" || e.What == service.ChangedAll {
				f.wake(ctx, e.ClusterID)
			}
		}
	}
}

// sweep is how often the records are compared with the resources: one that was taken to another
// cluster, or deleted while nobody looked, says nothing when it goes.
const sweep = time.Minute

// holdStray keeps clusters from being begun whose resources are not there any more.
func (f feed) holdStray(ctx context.Context) {
	var deployments hivev1.ClusterDeploymentList
	err := f.reconciler.Client.List(ctx, &deployments)
	if err == nil {
		there := map[string]bool{}
		for i := range deployments.Items {
			there[hubid.Cluster(&deployments.Items[i])] = true
		}
		err = f.hub.HoldStray(ctx, func(id string) bool { return there[id] })
	}
	if err != nil && ctx.Err() == nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot hold the clusters whose ClusterDeployments are gone")
	}
}

// wake wakes the resources of a cluster, or those of all clusters for an empty id.
func (f feed) wake(ctx context.Context, clusterID string) {
	var deployments hivev1.ClusterDeploymentList
	if err := f.reconciler.Client.List(ctx, &deployments); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot find the ClusterDeployment of a cluster", "cluster", clusterID)
		return
	}
	for i := range deployments.Items {
		if clusterID != "" && hubid.Cluster(&deployments.Items[i]) != clusterID {
			continue
		}
		for _, r := range f.reconciler.installsOfDeployment(ctx, &deployments.Items[i]) {
			f.tell(ctx, r.NamespacedName)
		}
	}
}

func (f feed) tell(ctx context.Context, key types.NamespacedName) {
	aci := &hiveextv1.AgentClusterInstall{}
	aci.Namespace, aci.Name = key.Namespace, key.Name
	select {
	case f.out <- event.GenericEvent{Object: aci}:
	case <-ctx.Done():
	}
}
