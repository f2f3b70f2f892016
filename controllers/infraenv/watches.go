package infraenv

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/nmstateconfigs"
)

// deletions lets only the end of an object through.
var deletions = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// envsOfSecret finds the environments whose pull secret it is.
func (r *reconciler) envsOfSecret(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.envsWhere(ctx, func(e *agentv1.InfraEnv) bool {
		ref := e.Spec.PullSecretRef
		return ref != nil && ref.Name == obj.GetName()
	}, client.InNamespace(obj.GetNamespace()))
}

// envsOfMirrors finds the environments whose registry mirrors are in the ConfigMap.
func (r *reconciler) envsOfMirrors(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.envsWhere(ctx, func(e *agentv1.InfraEnv) bool {
		ref := e.Spec.MirrorRegistryRef
		return ref != nil && ref.Namespace == obj.GetNamespace() && ref.Name == obj.GetName()
	})
}

// envsOfDeployment finds the environments that bind their hosts to the cluster,
// which may live in another namespace.
func (r *reconciler) envsOfDeployment(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.envsOfCluster(ctx, types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()})
}

func (r *reconciler) envsOfInstall(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	aci, ok := obj.(*hiveextv1.AgentClusterInstall)
	if !ok {
		return nil
	}
	return r.envsOfCluster(ctx, types.NamespacedName{Namespace: aci.Namespace, Name: aci.Spec.ClusterDeploymentRef.Name})
}

func (r *reconciler) envsOfCluster(ctx context.Context, cluster types.NamespacedName) []ctrlreconcile.Request {
	return r.envsWhere(ctx, func(e *agentv1.InfraEnv) bool {
		ref := clusterRef(e)
		return ref != nil && ref.Namespace == cluster.Namespace && ref.Name == cluster.Name
	})
}

// envOfAgent names the environment that an Agent belongs to.
func envOfAgent(_ context.Context, obj client.Object) []ctrlreconcile.Request {
	name := obj.GetLabels()[names.InfraEnvLabel]
	if name == "" {
		return nil
	}
	return []ctrlreconcile.Request{{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: name}}}
}

// queue is where sources put objects.
type queue = workqueue.TypedRateLimitingInterface[ctrlreconcile.Request]

// followBases has the static networks of hosts judged anew when base images changed: what a
// live system has no means for, that of another image may have.
func (r *reconciler) followBases(changed <-chan struct{}) source.Func {
	return func(ctx context.Context, q queue) error {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-changed:
				}
				for _, request := range r.envsWhere(ctx, nmstateconfigs.SelectsAny) {
					q.Add(request)
				}
			}
		}()
		return nil
	}
}

func (r *reconciler) envsWhere(ctx context.Context, belongs func(*agentv1.InfraEnv) bool, options ...client.ListOption) []ctrlreconcile.Request {
	var list agentv1.InfraEnvList
	if err := r.Client.List(ctx, &list, options...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list InfraEnvs")
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		if belongs(&list.Items[i]) {
			requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
