package cluster

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
)

// feed wakes the resource of a cluster whose record changed.
type feed struct {
	hub    Hub
	client client.Reader
	out    chan<- event.GenericEvent
}

// Start implements manager.Runnable.
func (f feed) Start(ctx context.Context) error {
	events, cancel := f.hub.Subscribe()
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-events:
			if e.ClusterID != "" {
				f.wake(ctx, e.ClusterID)
			}
		}
	}
}

func (f feed) wake(ctx context.Context, clusterID string) {
	var deployments hivev1.ClusterDeploymentList
	if f.client.List(ctx, &deployments) != nil {
		return
	}
	for i := range deployments.Items {
		cd := &deployments.Items[i]
		if hubid.Cluster(cd) != clusterID || cd.Spec.ClusterInstallRef == nil {
			continue
		}
		aci := &hiveextv1.AgentClusterInstall{}
		aci.Namespace, aci.Name = cd.Namespace, cd.Spec.ClusterInstallRef.Name
		select {
		case f.out <- event.GenericEvent{Object: aci}:
		case <-ctx.Done():
		}
		return
	}
}
