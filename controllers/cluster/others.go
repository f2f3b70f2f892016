package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// other is the AgentClusterInstall that describes the cluster in the place of this one; empty for none. The hub would be
// told two things in turn, and would lose the cluster with either. The one counts that the ClusterDeployment names, else
// the oldest; without a ClusterDeployment, the last one that is there.
func (r *reconciler) other(ctx context.Context, aci *hiveextv1.AgentClusterInstall) (string, error) {
	var list hiveextv1.AgentClusterInstallList
	if err := r.Client.List(ctx, &list, client.InNamespace(aci.Namespace)); err != nil {
		return "", err
	}
	cd := &hivev1.ClusterDeployment{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: aci.Namespace, Name: aci.Spec.ClusterDeploymentRef.Name}, cd)
	gone := apierrors.IsNotFound(err)
	if err != nil && !gone {
		return "", err
	}
	for i := range list.Items {
		o := &list.Items[i]
		switch ref := cd.Spec.ClusterInstallRef; {
		case o.Name == aci.Name || o.Spec.ClusterDeploymentRef.Name != aci.Spec.ClusterDeploymentRef.Name || !o.DeletionTimestamp.IsZero():
		case gone, ref == nil && older(o, aci), ref != nil && ref.Kind == kindInstall && ref.Name == o.Name:
			return o.Name, nil
		}
	}
	return "", nil
}

func older(a, b *hiveextv1.AgentClusterInstall) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}
