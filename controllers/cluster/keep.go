package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/clustermachine"
)

// keep writes to the object itself how far its cluster is, where neither the hub nor the object may
// have its status any more, as after a move to another cluster or a restore from a backup: one that
// was installed is not installed again. A cluster that was not begun begins anew anyway.
func (r *reconciler) keep(ctx context.Context, aci *hiveextv1.AgentClusterInstall) error {
	want := aci.DeepCopy()
	delete(want.Annotations, names.ClusterState)
	if state := aci.Status.DebugInfo.State; lasting(state) {
		metav1.SetMetaDataAnnotation(&want.ObjectMeta, names.ClusterState, state)
	}
	if want.Annotations[names.ClusterState] == aci.Annotations[names.ClusterState] {
		return nil
	}
	err := r.Client.Patch(ctx, want, client.MergeFromWithOptions(aci.DeepCopy(), client.MergeFromWithOptimisticLock{}))
	if reconcile.IsConflict(err) {
		return reconcile.WaitFor(lookAgain, "a fresh copy of the AgentClusterInstall")
	}
	if err != nil {
		return fmt.Errorf("keep the state of the cluster in an annotation: %w", err)
	}
	return nil
}

// lasting tells of a state that a cluster has still when its record is made anew.
func lasting(state string) bool {
	_, _, ok := clustermachine.Recovered(state)
	return ok
}
