// Package cluster registers clusters in the hub: an AgentClusterInstall with its
// ClusterDeployment becomes a record, which hosts are bound to and which the hub
// installs by itself once all of its hosts are there, approved and ready.
package cluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// Finalizer keeps the object until the hub has forgotten the cluster.
const Finalizer = "agentclusterinstall.agent-install.openshift.io/ai-deprovision"

// lookAgain is when a dependency that has no watch is looked at again.
const lookAgain = 10 * time.Second

// Hub is the part of the hub that is used here; *service.Hub implements it.
type Hub interface {
	EnsureCluster(ctx context.Context, spec service.ClusterSpec) (wire.Cluster, error)
	Cluster(ctx context.Context, id string, withHosts bool) (wire.Cluster, error)
	ResetCluster(ctx context.Context, id string) (wire.Cluster, error)
	DeleteCluster(ctx context.Context, id string) error
	Subscribe() (<-chan service.Event, func())
}

type reconciler struct {
	reconcile.Reconciler[*hiveextv1.AgentClusterInstall]
	hub Hub
}

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, hub Hub) error {
	r := &reconciler{hub: hub}
	r.Reconciler = reconcile.Reconciler[*hiveextv1.AgentClusterInstall]{
		Client:    mgr.GetClient(),
		New:       func() *hiveextv1.AgentClusterInstall { return &hiveextv1.AgentClusterInstall{} },
		Finalizer: Finalizer,
		Steps:     []reconcile.Step[*hiveextv1.AgentClusterInstall]{r.register},
		Delete:    r.deregister,
	}
	changes := make(chan event.GenericEvent)
	if err := mgr.Add(feed{hub: hub, client: mgr.GetClient(), out: changes}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("cluster").
		For(&hiveextv1.AgentClusterInstall{}).
		Watches(&hivev1.ClusterDeployment{}, handler.EnqueueRequestsFromMapFunc(r.installsOfDeployment)).
		WatchesRawSource(source.Channel(changes, &handler.EnqueueRequestForObject{})).
		Complete(r)
}

// +kubebuilder:rbac:groups=extensions.hive.openshift.io,resources=agentclusterinstalls,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=extensions.hive.openshift.io,resources=agentclusterinstalls/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=hive.openshift.io,resources=clusterdeployments;clusterimagesets,verbs=get;list;watch

// register brings the hub's record up to date and shows its state.
func (r *reconciler) register(ctx context.Context, aci *hiveextv1.AgentClusterInstall) error {
	cd := &hivev1.ClusterDeployment{}
	if err := r.Client.Get(ctx, types.NamespacedName{Namespace: aci.Namespace, Name: aci.Spec.ClusterDeploymentRef.Name}, cd); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return reconcile.WaitFor(lookAgain, "ClusterDeployment %s to be created", aci.Spec.ClusterDeploymentRef.Name)
		}
		return err
	}
	spec, err := r.spec(ctx, aci, cd)
	if err != nil {
		return err
	}
	if _, err := r.hub.EnsureCluster(ctx, spec); err != nil {
		return hubError(err)
	}
	record, err := r.hub.Cluster(ctx, spec.ID, true)
	if err != nil {
		return hubError(err)
	}
	if ended(record.Status) && len(record.Hosts) == 0 {
		// Its hosts were deprovisioned: nothing of the attempt is left but the record.
		if record, err = r.hub.ResetCluster(ctx, spec.ID); err != nil {
			return hubError(err)
		}
	}
	project(aci, &record)
	return nil
}

func ended(status string) bool {
	return slices.Contains([]string{wire.ClusterStatusError, wire.ClusterStatusCancelled}, status)
}

func (r *reconciler) spec(ctx context.Context, aci *hiveextv1.AgentClusterInstall, cd *hivev1.ClusterDeployment) (service.ClusterSpec, error) {
	s := service.ClusterSpec{
		ID: hubid.Cluster(cd), Name: cd.Spec.ClusterName, BaseDomain: cd.Spec.BaseDomain,
		Masters:  aci.Spec.ProvisionRequirements.ControlPlaneAgents,
		Arbiters: aci.Spec.ProvisionRequirements.ArbiterAgents,
		Workers:  aci.Spec.ProvisionRequirements.WorkerAgents,
		SSHKey:   aci.Spec.SSHPublicKey,
		Hold:     aci.Spec.HoldInstallation,
	}
	for _, n := range aci.Spec.Networking.MachineNetwork {
		s.MachineNetworks = append(s.MachineNetworks, n.CIDR)
	}
	if ref := cd.Spec.PullSecretRef; ref != nil {
		secret := &corev1.Secret{}
		if err := r.Client.Get(ctx, types.NamespacedName{Namespace: cd.Namespace, Name: ref.Name}, secret); client.IgnoreNotFound(err) != nil {
			return s, err
		}
		s.PullSecret = string(secret.Data[corev1.DockerConfigJsonKey])
	}
	if ref := aci.Spec.ImageSetRef; ref != nil {
		set := &hivev1.ClusterImageSet{}
		if err := r.Client.Get(ctx, types.NamespacedName{Name: ref.Name}, set); err != nil {
			if client.IgnoreNotFound(err) == nil {
				return s, reconcile.WaitFor(lookAgain, "ClusterImageSet %s to be created", ref.Name)
			}
			return s, err
		}
		s.ReleaseImage = set.Spec.ReleaseImage
	}
	return s, nil
}

func hubError(err error) error {
	if code := service.Code(err); code < http.StatusInternalServerError {
		return reconcile.Stall("InputError", "the hub refuses the cluster: %w", err)
	}
	return &reconcile.Unavailable{What: "the hub's store", Err: err}
}

// deregister removes the record.
func (r *reconciler) deregister(ctx context.Context, aci *hiveextv1.AgentClusterInstall) error {
	cd := &hivev1.ClusterDeployment{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: aci.Namespace, Name: aci.Spec.ClusterDeploymentRef.Name}, cd)
	if err != nil {
		// Without its ClusterDeployment the record's id is unknown; the hub drops records without hosts in time.
		return client.IgnoreNotFound(err)
	}
	if err := r.hub.DeleteCluster(ctx, hubid.Cluster(cd)); err != nil && !service.IsNotFound(err) {
		return fmt.Errorf("remove cluster %s from the hub: %w", aci.Name, err)
	}
	return nil
}

// project shows the record's state on the resource.
func project(aci *hiveextv1.AgentClusterInstall, c *wire.Cluster) {
	aci.Status.DebugInfo.State, aci.Status.DebugInfo.StateInfo = c.Status, c.StatusInfo
	installed := hiveextv1.Condition{Type: "Completed", Status: corev1.ConditionFalse, Reason: "InstallationNotStarted", Message: c.StatusInfo}
	switch {
	case c.Status == wire.ClusterStatusInstalled:
		installed.Status, installed.Reason = corev1.ConditionTrue, "InstallationCompleted"
	case ended(c.Status):
		installed.Reason = "InstallationFailed"
	case c.Status != wire.ClusterStatusInsufficient && c.Status != wire.ClusterStatusReady && c.Status != wire.ClusterStatusPendingForInput:
		installed.Reason = "InstallationInProgress"
	}
	hiveextv1.SetCondition(&aci.Status.Conditions, installed, metav1.Now())
}

func (r *reconciler) installsOfDeployment(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	var list hiveextv1.AgentClusterInstallList
	if err := r.Client.List(ctx, &list, client.InNamespace(obj.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list AgentClusterInstalls", "namespace", obj.GetNamespace())
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		if list.Items[i].Spec.ClusterDeploymentRef.Name == obj.GetName() {
			requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
