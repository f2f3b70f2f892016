package cluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/hostmachine"
)

// takesPart is the ClusterDeployment in whose installation the Agent's host takes, or took, part as
// far as the Agent tells; nothing for a host that is going, or that only waits to be bound.
func takesPart(agent *agentv1.Agent) types.NamespacedName {
	ref, state := agent.Spec.ClusterDeploymentName, agent.Status.DebugInfo.State
	if ref == nil || !agent.DeletionTimestamp.IsZero() || state == "" || slices.Contains(hostmachine.Pool, state) {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// leaving passes on the moment at which an Agent's host stops to take part in an installation: nothing
// else may tell that the last one has left. All else that happens to hosts comes from the hub.
var leaving = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
	DeleteFunc:  func(event.DeleteEvent) bool { return true },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*agentv1.Agent)
		after, both := e.ObjectNew.(*agentv1.Agent)
		return ok && both && takesPart(before) != takesPart(after)
	},
}

// installsOfAgent finds what describes the installation of the Agent's cluster.
func (r *reconciler) installsOfAgent(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	agent, ok := obj.(*agentv1.Agent)
	if !ok || agent.Spec.ClusterDeploymentName == nil {
		return nil
	}
	return r.installsOf(ctx, types.NamespacedName{Namespace: agent.Spec.ClusterDeploymentName.Namespace, Name: agent.Spec.ClusterDeploymentName.Name})
}

func (r *reconciler) installsOfDeployment(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.installsOf(ctx, client.ObjectKeyFromObject(obj))
}

// installsOf finds what describes the installation of a ClusterDeployment.
func (r *reconciler) installsOf(ctx context.Context, cd types.NamespacedName) []ctrlreconcile.Request {
	var list hiveextv1.AgentClusterInstallList
	if err := r.Client.List(ctx, &list, client.InNamespace(cd.Namespace)); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list AgentClusterInstalls", "namespace", cd.Namespace)
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		if list.Items[i].Spec.ClusterDeploymentRef.Name == cd.Name {
			requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
