package agentlabels

import (
	"context"
	"maps"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// labeller writes the labels of Agents.
type labeller struct{ client client.Client }

// Reconcile implements reconcile.Reconciler.
func (l *labeller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	agent := &agentv1.Agent{}
	if err := l.client.Get(ctx, req.NamespacedName, agent); err != nil || !agent.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var list agentv1.AgentClassificationList
	if err := l.client.List(ctx, &list, client.InNamespace(agent.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	want, err := labelsOf(ctx, agent, list.Items)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := agent.DeepCopy()
	maps.DeleteFunc(agent.Labels, func(key, _ string) bool { return ours(key) })
	if agent.Labels == nil {
		agent.Labels = map[string]string{}
	}
	maps.Copy(agent.Labels, want)
	if _, described := want[CPUArchitecture]; described {
		if agent.Annotations == nil {
			agent.Annotations = map[string]string{}
		}
		agent.Annotations[names.InventoryVersion] = inventoryVersion
	}
	if maps.Equal(before.Labels, agent.Labels) && maps.Equal(before.Annotations, agent.Annotations) {
		return ctrl.Result{}, nil
	}
	err = l.client.Patch(ctx, agent, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if reconcile.IsConflict(err) {
		return reconcile.RetryConflict(), nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// agentsOf are all Agents that a classification may label.
func (l *labeller) agentsOf(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	var list agentv1.AgentList
	if err := l.client.List(ctx, &list, client.InNamespace(obj.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list Agents", "namespace", obj.GetNamespace())
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}

// concerns lets through what may change an Agent's labels: most changes of an Agent are of
// its progress. The report's time moves with each other inventory.
var concerns = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*agentv1.Agent)
	after, both := e.ObjectNew.(*agentv1.Agent)
	if !ok || !both {
		return true
	}
	return !before.Status.Inventory.ReportTime.Equal(after.Status.Inventory.ReportTime) || !maps.Equal(own(before), own(after)) ||
		clusterOf(before) != clusterOf(after)
}}

// own are the labels of an Agent that are ours.
func own(agent *agentv1.Agent) map[string]string {
	labels := maps.Clone(agent.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { return !ours(key) })
	return labels
}

// clusterOf is the cluster in the Agent's spec; zero for none.
func clusterOf(agent *agentv1.Agent) agentv1.ClusterReference {
	if ref := agent.Spec.ClusterDeploymentName; ref != nil && ref.Name != "" {
		return *ref
	}
	return agentv1.ClusterReference{}
}

// Setup registers both controllers with the manager.
func Setup(mgr ctrl.Manager) error {
	l := &labeller{mgr.GetClient()}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("agentlabels").
		For(&agentv1.Agent{}, forConcerns).
		Watches(&agentv1.AgentClassification{}, handler.EnqueueRequestsFromMapFunc(l.agentsOf), ofSpecs).
		Complete(l)
	if err != nil {
		return err
	}
	c := newCounter(mgr.GetClient())
	return ctrl.NewControllerManagedBy(mgr).
		Named("agentclassification").
		For(&agentv1.AgentClassification{}).
		Watches(&agentv1.Agent{}, handler.Funcs{
			CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { c.wake(ctx, q, e.Object, nil) },
			UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { c.wake(ctx, q, e.ObjectOld, e.ObjectNew) },
			DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { c.wake(ctx, q, e.Object, nil) },
		}).
		Complete(c)
}

// classified are the classification labels of an object.
func classified(obj client.Object) map[string]string {
	if obj == nil {
		return nil
	}
	labels := maps.Clone(obj.GetLabels())
	maps.DeleteFunc(labels, func(key, _ string) bool { return !strings.HasPrefix(key, names.ClassificationPrefix) })
	return labels
}

// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agentclassifications,verbs=get;list;watch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agentclassifications/status,verbs=get;update;patch
