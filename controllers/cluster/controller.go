// Package cluster registers clusters in the hub: an AgentClusterInstall with its
// ClusterDeployment becomes a record, which hosts are bound to and which the hub
// installs by itself once all of its hosts are there, approved and ready.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// Finalizer keeps the object until the hub has forgotten the cluster.
const Finalizer = "agentclusterinstall.agent-install.openshift.io/ai-deprovision"

// lookAgain is when a dependency that has no watch is looked at again.
const lookAgain = 10 * time.Second

// Records are the hub's clusters as they are kept up to date; *service.Hub implements it.
type Records interface {
	EnsureCluster(ctx context.Context, spec service.ClusterSpec) (wire.Cluster, error)
	Cluster(ctx context.Context, id string, withHosts bool) (wire.Cluster, error)
	// CredentialsFile refuses what there is not, or not yet, with 409.
	CredentialsFile(ctx context.Context, id, name string) ([]byte, error)
	DeleteCluster(ctx context.Context, id string) error
	Subscribe() (<-chan service.Event, func())
}

// Actions move a cluster on; *service.Hub implements it.
type Actions interface {
	// ResetDeserted has a cluster begin anew that none of its hosts is left of.
	ResetDeserted(ctx context.Context, id string) (wire.Cluster, error)
	CancelInstallation(ctx context.Context, id string) (wire.Cluster, error)
	// HoldCluster keeps a cluster from being installed until it is ensured the next time.
	HoldCluster(ctx context.Context, id string) (wire.Cluster, error)
	// AllowAddHosts has an installed cluster take more hosts; 409 for any other.
	AllowAddHosts(ctx context.Context, id string) (wire.Cluster, error)
	// HoldStray holds the clusters whose objects are not there any more.
	HoldStray(ctx context.Context, there func(id string) bool) error
}

// Hub is both.
type Hub interface {
	Records
	Actions
}

type reconciler struct {
	reconcile.Reconciler[*hiveextv1.AgentClusterInstall]
	hub     Hub
	secrets secretcache.Reader
	// releases may be nil: then image sets name releases by their tags.
	releases *lookup.Finder
	// publicURL is where people reach the hub.
	publicURL string
}

func newReconciler(c client.Client, hub Hub) *reconciler {
	r := &reconciler{hub: hub, secrets: secretcache.Reader{Client: c, Live: c}}
	r.Reconciler = reconcile.Reconciler[*hiveextv1.AgentClusterInstall]{
		Client:    c,
		New:       func() *hiveextv1.AgentClusterInstall { return &hiveextv1.AgentClusterInstall{} },
		Finalizer: Finalizer,
		Steps:     []reconcile.Step[*hiveextv1.AgentClusterInstall]{r.register},
		Delete:    r.deregister,
		Summarise: summarise,
	}
	return r
}

// Setup registers the controller with the manager. What finds out releases may be nil. People reach the hub at publicURL.
func Setup(mgr ctrl.Manager, hub Hub, list *lookup.Finder, publicURL string) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &agentv1.Agent{}, memberIndex, membersIndexed); err != nil {
		return fmt.Errorf("index agents by the cluster that they are members of: %w", err)
	}
	r := newReconciler(mgr.GetClient(), hub)
	r.secrets.Live, r.releases, r.publicURL = mgr.GetAPIReader(), list, publicURL
	changes := make(chan event.GenericEvent)
	if err := mgr.Add(feed{hub: hub, reconciler: r, out: changes}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("cluster").
		For(&hiveextv1.AgentClusterInstall{}).
		Watches(&hivev1.ClusterDeployment{}, handler.EnqueueRequestsFromMapFunc(r.installsOfDeployment)).
		Watches(&hivev1.ClusterImageSet{}, handler.EnqueueRequestsFromMapFunc(r.installsOfImageSet)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.installsOfSecret)).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.installsOfSecret), builder.WithPredicates(secretcache.Unlabelled)).
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.installsOfConfigMap)).
		Watches(&agentv1.Agent{}, handler.EnqueueRequestsFromMapFunc(r.installsOfAgent), builder.WithPredicates(predicate.Or(leaving, counting))).
		WatchesRawSource(source.Channel(changes, &handler.EnqueueRequestForObject{})).
		Complete(r)
}

// +kubebuilder:rbac:groups=extensions.hive.openshift.io,resources=agentclusterinstalls,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups=extensions.hive.openshift.io,resources=agentclusterinstalls/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=hive.openshift.io,resources=clusterdeployments;clusterimagesets,verbs=get;list;watch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch

// Reconcile runs one pass for the object named by req.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	switch err := client.IgnoreNotFound(r.adopt(ctx, req.NamespacedName)); {
	case reconcile.IsConflict(err):
		return reconcile.RetryConflict(), nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("make the ClusterDeployment the owner: %w", err)
	}
	return r.Reconciler.Reconcile(ctx, req)
}

// adopt makes the ClusterDeployment the owner: both go together, and the owner's
// UID, which is the record's id, is still known when it went first. So is whether its
// hosts are to stay as they are.
func (r *reconciler) adopt(ctx context.Context, key types.NamespacedName) error {
	aci, cd := &hiveextv1.AgentClusterInstall{}, &hivev1.ClusterDeployment{}
	if err := r.Client.Get(ctx, key, aci); err != nil || !aci.DeletionTimestamp.IsZero() {
		return err
	}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: aci.Namespace, Name: aci.Spec.ClusterDeploymentRef.Name}, cd)
	if err != nil || owner(aci) == cd.UID && preserved(aci) == cd.Spec.PreserveOnDelete {
		return err
	}
	owned := aci.DeepCopy()
	delete(owned.Annotations, names.PreserveHosts)
	if cd.Spec.PreserveOnDelete {
		metav1.SetMetaDataAnnotation(&owned.ObjectMeta, names.PreserveHosts, "true")
	}
	owned.OwnerReferences = append(slices.DeleteFunc(owned.OwnerReferences, isDeployment), metav1.OwnerReference{
		APIVersion: hivev1.GroupVersion.String(), Kind: deploymentKind, Name: cd.Name, UID: cd.UID,
	})
	return r.Client.Patch(ctx, owned, client.MergeFromWithOptions(aci, client.MergeFromWithOptimisticLock{}))
}

// register brings the hub's record up to date and shows its state.
func (r *reconciler) register(ctx context.Context, aci *hiveextv1.AgentClusterInstall) error {
	cd := &hivev1.ClusterDeployment{}
	if err := r.Client.Get(ctx, types.NamespacedName{Namespace: aci.Namespace, Name: aci.Spec.ClusterDeploymentRef.Name}, cd); err != nil {
		if client.IgnoreNotFound(err) == nil {
			absent(&aci.Status, metav1.Now())
			return reconcile.WaitFor(lookAgain, "ClusterDeployment %s to be created", aci.Spec.ClusterDeploymentRef.Name)
		}
		return err
	}
	switch other, err := r.other(ctx, aci); {
	case err != nil:
		return err
	case other != "": // nothing of the cluster is touched
		absent(&aci.Status, metav1.Now())
		return reconcile.WaitFor(lookAgain, "a person: ClusterDeployment %s is described by AgentClusterInstall %s; delete one of the two, or name this one in spec.clusterInstallRef", cd.Name, other)
	}
	before := aci.Status.DeepCopy()
	w, problem := r.read(ctx, aci, cd)
	if problem == nil {
		_, err := r.hub.EnsureCluster(ctx, w.spec)
		problem = hubError(err)
	}
	record, err := r.hub.Cluster(ctx, w.spec.ID, true)
	switch {
	case service.IsNotFound(err) && problem != nil:
		absent(&aci.Status, metav1.Now())
		return problem // it was never registered
	case err != nil:
		return hubError(err)
	}
	if err := r.follow(ctx, aci, cd, record, problem); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(before, &aci.Status) { // it is stored first, which wakes us
		if err := r.keep(ctx, aci); err != nil {
			return err
		}
	}
	if problem == nil {
		specSynced(&aci.Status, w.ignored())
	}
	return problem
}

// follow has the record go on, and shows its state, also of one that has not all that the
// spec says.
func (r *reconciler) follow(ctx context.Context, aci *hiveextv1.AgentClusterInstall, cd *hivev1.ClusterDeployment, record wire.Cluster, problem error) error {
	record, err := r.moveOn(ctx, cd, record, problem)
	if err != nil {
		return err
	}
	runs, err := r.credentials(ctx, aci, cd, &record)
	if err != nil {
		return err
	}
	heads, err := r.heads(ctx, aci, cd, &record)
	project(&aci.Status, &record, known{hold: held(aci, cd), runs: runs, agents: heads, publicURL: r.publicURL}, metav1.Now())
	return err
}

// moveOn takes the record to where its objects want it.
func (r *reconciler) moveOn(ctx context.Context, cd *hivev1.ClusterDeployment, record wire.Cluster, problem error) (wire.Cluster, error) {
	deserted, err := r.deserted(ctx, cd, &record)
	if err != nil {
		return record, err
	}
	next := func(context.Context, string) (wire.Cluster, error) { return record, nil }
	switch {
	case deserted:
		next = r.hub.ResetDeserted
	case record.Status == wire.ClusterStatusInstalled:
		next = r.hub.AllowAddHosts
	case awaits(problem):
		next = r.hub.HoldCluster // it would be installed as the objects said before
	}
	moved, err := next(ctx, record.ID)
	if err != nil {
		return record, hubError(err)
	}
	return moved, nil
}

// awaits tells of a problem of the objects, which somebody has to see to.
func awaits(problem error) bool {
	_, stalled := errors.AsType[*reconcile.Stalled](problem)
	_, waits := errors.AsType[*reconcile.Waiting](problem)
	return stalled || waits
}

// deserted reports whether the hosts of an attempt that ended were deprovisioned:
// nothing of it is left but the record. A hub that has lost its store gets its
// hosts back from their Agents; they count until then. A machine that has
// registered anew, and waits to be bound, does not: it would wait for ever.
func (r *reconciler) deserted(ctx context.Context, cd *hivev1.ClusterDeployment, record *wire.Cluster) (bool, error) {
	if !ended(record.Status) || len(record.Hosts) > 0 {
		return false, nil
	}
	var list agentv1.AgentList
	err := r.Client.List(ctx, &list)
	left := func(a agentv1.Agent) bool { return takesPart(&a) == client.ObjectKeyFromObject(cd) }
	return err == nil && !slices.ContainsFunc(list.Items, left), err
}

// preserved reports whether the ClusterDeployment says that its hosts are kept.
func preserved(aci *hiveextv1.AgentClusterInstall) bool {
	_, is := aci.Annotations[names.PreserveHosts]
	return is
}

const deploymentKind = "ClusterDeployment"

func isDeployment(o metav1.OwnerReference) bool {
	return o.Kind == deploymentKind && o.APIVersion == hivev1.GroupVersion.String()
}

// owner is the UID of the ClusterDeployment that was made the owner, or nothing.
func owner(aci *hiveextv1.AgentClusterInstall) types.UID {
	if i := slices.IndexFunc(aci.OwnerReferences, isDeployment); i >= 0 {
		return aci.OwnerReferences[i].UID
	}
	return ""
}

func ended(status string) bool {
	return slices.Contains([]string{wire.ClusterStatusError, wire.ClusterStatusCancelled}, status)
}

// hubError says what an error of the hub means for the objects.
func hubError(err error) error {
	if err == nil {
		return nil
	}
	if late, is := errors.AsType[*service.TooLate](err); is {
		var paths []string
		for _, member := range late.Members {
			paths = append(paths, strings.Join(pathsOf(member), ", ")+" (it can change "+late.Until(member)+")")
		}
		return wrong("cluster %s is %s, and has something else than the objects say now of %s: put back what they said until it can change, or reset the cluster to install it anew",
			late.Cluster, late.Status, strings.Join(paths, ", "))
	}
	if text, is := input.Told("cluster", err); is {
		return wrong("%s", text)
	}
	if code := service.Code(err); code < http.StatusInternalServerError {
		return reconcile.Stall("InputError", "the hub refuses the cluster: %w", err)
	}
	return &reconcile.Unavailable{What: "the hub's store", Err: err}
}

// deregister removes the record. An installation that runs is called off: the
// cluster that it would make is not wanted any more. With preserveOnDelete the record stays:
// hosts that leave their cluster are given back, and cleaned.
func (r *reconciler) deregister(ctx context.Context, aci *hiveextv1.AgentClusterInstall) error {
	id := string(owner(aci))
	if id == "" {
		return nil // it never got as far as to be registered
	}
	switch other, err := r.other(ctx, aci); {
	case err != nil:
		return err
	case other != "":
		return nil // the cluster is its
	}
	if preserved(aci) || reconcile.Moved(aci) { // the cluster runs on, or is elsewhere now: it is not begun here
		if _, err := r.hub.HoldCluster(ctx, id); err != nil && !service.IsNotFound(err) {
			return fmt.Errorf("hold cluster %s in the hub: %w", aci.Name, err)
		}
		return nil
	}
	err := r.hub.DeleteCluster(ctx, id)
	if service.Code(err) == http.StatusConflict {
		if _, err := r.hub.CancelInstallation(ctx, id); err != nil {
			return fmt.Errorf("cancel the installation of cluster %s: %w", aci.Name, err)
		}
		err = r.hub.DeleteCluster(ctx, id)
	}
	if err != nil && !service.IsNotFound(err) {
		return fmt.Errorf("remove cluster %s from the hub: %w", aci.Name, err)
	}
	return nil
}
