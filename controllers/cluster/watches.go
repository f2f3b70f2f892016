package cluster

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/hostmachine"
)

// takesPart is the ClusterDeployment in whose installation the Agent's host takes, or took, part as
// far as the Agent tells; nothing for a host that is going, or that only waits to be bound.
func takesPart(agent *agentv1.Agent) types.NamespacedName {
	ref, state := agent.Spec.ClusterDeploymentName, cmp.Or(agent.Status.DebugInfo.State, agent.Annotations[names.AgentState])
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
	return r.installsWhere(ctx, func(aci *hiveextv1.AgentClusterInstall) bool {
		return aci.Spec.ClusterDeploymentRef.Name == cd.Name
	}, client.InNamespace(cd.Namespace))
}

// installsOfImageSet finds the installations of the release.
func (r *reconciler) installsOfImageSet(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.installsWhere(ctx, func(aci *hiveextv1.AgentClusterInstall) bool {
		return aci.Spec.ImageSetRef != nil && aci.Spec.ImageSetRef.Name == obj.GetName()
	})
}

// installsOfConfigMap finds the installations that have manifests or role files in it.
func (r *reconciler) installsOfConfigMap(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.installsWhere(ctx, func(aci *hiveextv1.AgentClusterInstall) bool {
		return slices.Contains(manifestMaps(aci), obj.GetName()) || holdsFiles(aci, kindConfigMap, obj.GetName())
	}, client.InNamespace(obj.GetNamespace()))
}

// installsOfSecret finds the installations that read the Secret, or keep credentials in it.
func (r *reconciler) installsOfSecret(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	key := client.ObjectKeyFromObject(obj)
	var deployments hivev1.ClusterDeploymentList
	if err := r.Client.List(ctx, &deployments, client.InNamespace(key.Namespace)); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list ClusterDeployments", "namespace", key.Namespace)
		return nil
	}
	pulls := map[string]bool{}
	for i := range deployments.Items {
		if ref := deployments.Items[i].Spec.PullSecretRef; ref != nil && ref.Name == key.Name {
			pulls[deployments.Items[i].Name] = true
		}
	}
	return r.installsWhere(ctx, func(aci *hiveextv1.AgentClusterInstall) bool {
		if e := aci.Spec.IgnitionEndpoint; e != nil && e.CaCertificateReference != nil &&
			key == (types.NamespacedName{Namespace: e.CaCertificateReference.Namespace, Name: e.CaCertificateReference.Name}) {
			return true
		}
		if aci.Namespace != key.Namespace {
			return false
		}
		m := aci.Spec.ClusterMetadata
		return holdsFiles(aci, kindSecret, key.Name) || pulls[aci.Spec.ClusterDeploymentRef.Name] ||
			m != nil && (m.AdminKubeconfigSecretRef.Name == key.Name || m.AdminPasswordSecretRef != nil && m.AdminPasswordSecretRef.Name == key.Name)
	})
}

func (r *reconciler) installsWhere(ctx context.Context, is func(*hiveextv1.AgentClusterInstall) bool, options ...client.ListOption) []ctrlreconcile.Request {
	var list hiveextv1.AgentClusterInstallList
	if err := r.Client.List(ctx, &list, options...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list AgentClusterInstalls")
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		if is(&list.Items[i]) {
			requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
