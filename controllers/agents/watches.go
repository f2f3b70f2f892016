package agents

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// clusterIndex finds Agents by the "namespace/name" of the ClusterDeployment in
// their spec.
const clusterIndex = "agents.cluster"

func clusterOf(obj client.Object) []string {
	agent, ok := obj.(*agentv1.Agent)
	if !ok || agent.Spec.ClusterDeploymentName == nil || agent.Spec.ClusterDeploymentName.Name == "" {
		return nil
	}
	return []string{agent.Spec.ClusterDeploymentName.Namespace + "/" + agent.Spec.ClusterDeploymentName.Name}
}

// tokenIndex finds Agents by the "namespace/name" of the Secret whose token opens the
// Ignition that they join their cluster with.
const tokenIndex = "agents.token"

func tokenOf(obj client.Object) []string {
	agent, ok := obj.(*agentv1.Agent)
	if !ok || agent.Spec.IgnitionEndpointTokenReference == nil {
		return nil
	}
	return []string{agent.Spec.IgnitionEndpointTokenReference.Namespace + "/" + agent.Spec.IgnitionEndpointTokenReference.Name}
}

// agentsOfSecret finds the Agents whose token the Secret holds.
func (r *reconciler) agentsOfSecret(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	var list agentv1.AgentList
	if err := r.Client.List(ctx, &list, client.MatchingFields{tokenIndex: obj.GetNamespace() + "/" + obj.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list the Agents of a Secret", "secret", obj.GetName())
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}

// agentsOfDeployment finds the Agents that wait to be bound to the cluster.
func (r *reconciler) agentsOfDeployment(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.unbound(ctx, obj.GetNamespace(), obj.GetName())
}

func (r *reconciler) agentsOfInstall(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	aci, ok := obj.(*hiveextv1.AgentClusterInstall)
	if !ok {
		return nil
	}
	return r.unbound(ctx, aci.Namespace, aci.Spec.ClusterDeploymentRef.Name)
}

func (r *reconciler) unbound(ctx context.Context, namespace, name string) []ctrlreconcile.Request {
	var list agentv1.AgentList
	if err := r.Client.List(ctx, &list, client.MatchingFields{clusterIndex: namespace + "/" + name}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list the Agents of a cluster", "cluster", name)
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		bound := agentv1.FindCondition(list.Items[i].Status.Conditions, agentv1.ConditionBound)
		if bound == nil || bound.Status != "True" {
			requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
