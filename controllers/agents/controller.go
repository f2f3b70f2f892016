package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// lookAgain is when a dependency that has no watch is looked at again.
const lookAgain = 10 * time.Second

// Records are the hub's hosts as they are read; *service.Hub implements it.
type Records interface {
	View(ctx context.Context, key store.HostKey) (service.HostView, wire.Host, error)
	Hosts(ctx context.Context, filter store.HostFilter) (wire.HostList, error)
	Subscribe() (<-chan service.Event, func())
}

// Actions change the hub's hosts; *service.Hub implements it.
type Actions interface {
	Ask(ctx context.Context, key store.HostKey, want service.HostSettings, token string) (changed bool, err error)
	ApproveHost(ctx context.Context, key store.HostKey, approved bool) error
	BindHost(ctx context.Context, key store.HostKey, clusterID string) (wire.Host, error)
	UnbindHost(ctx context.Context, key store.HostKey) (wire.Host, error)
	RecoverHost(ctx context.Context, key store.HostKey, lost service.LostHost) (made bool, err error)
	DeleteHost(ctx context.Context, key store.HostKey) error
}

// Overrides change what is installed on one host; *service.Hub implements it.
type Overrides interface {
	SetInstallerArgs(ctx context.Context, key store.HostKey, args []string) (wire.Host, error)
	SetHostIgnition(ctx context.Context, key store.HostKey, config string) error
}

// Hub is all of them.
type Hub interface {
	Records
	Actions
	Overrides
}

type reconciler struct {
	reconcile.Reconciler[*agentv1.Agent]
	hub     Hub
	secrets secretcache.Reader
	// behind names the BareMetalHost that has more to say than the Agent has got, empty for none;
	// nil where there are no BareMetalHosts.
	behind Behind
}

// Behind names the BareMetalHost of an Agent that has settings for it which it has not got yet; empty for none.
type Behind func(ctx context.Context, agent *agentv1.Agent) (host string, err error)

func newReconciler(c client.Client, hub Hub) *reconciler {
	r := &reconciler{hub: hub, secrets: secretcache.Reader{Client: c, Live: c}}
	r.Reconciler = reconcile.Reconciler[*agentv1.Agent]{
		Client:    c,
		New:       func() *agentv1.Agent { return &agentv1.Agent{} },
		Finalizer: names.AgentFinalizer,
		Steps:     []reconcile.Step[*agentv1.Agent]{r.sync},
		Delete:    r.forget,
	}
	return r
}

// Setup registers the controller with the manager. behind may be nil.
func Setup(mgr ctrl.Manager, hub Hub, behind Behind) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &agentv1.Agent{}, clusterIndex, clusterOf); err != nil {
		return fmt.Errorf("index agents by cluster: %w", err)
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &agentv1.Agent{}, tokenIndex, tokenOf); err != nil {
		return fmt.Errorf("index agents by the Secret of their token: %w", err)
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &agentv1.Agent{}, nameIndex, nameOf); err != nil {
		return fmt.Errorf("index agents by name: %w", err)
	}
	r := newReconciler(mgr.GetClient(), hub)
	r.secrets.Live, r.behind = mgr.GetAPIReader(), behind
	changes := make(chan event.GenericEvent)
	if err := mgr.Add(&feed{hub: hub, client: mgr.GetClient(), live: mgr.GetAPIReader(), out: changes}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("agents").
		For(&agentv1.Agent{}).
		Watches(&hivev1.ClusterDeployment{}, handler.EnqueueRequestsFromMapFunc(r.agentsOfDeployment)).
		// Its status tells when the cluster has its record in the hub.
		Watches(&hiveextv1.AgentClusterInstall{}, handler.EnqueueRequestsFromMapFunc(r.agentsOfInstall)).
		Watches(&agentv1.InfraEnv{}, handler.EnqueueRequestsFromMapFunc(r.agentsOfEnv), builder.WithPredicates(bequeathed)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.agentsOfSecret)).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.agentsOfSecret), builder.WithPredicates(secretcache.Unlabelled)).
		WatchesRawSource(source.Channel(changes, &handler.EnqueueRequestForObject{})).
		Complete(r)
}

// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=infraenvs,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=hive.openshift.io,resources=clusterdeployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=extensions.hive.openshift.io,resources=agentclusterinstalls,verbs=get;list;watch

// sync hands the spec to the hub and shows the record in the status.
func (r *reconciler) sync(ctx context.Context, agent *agentv1.Agent) error {
	env, err := r.infraEnv(ctx, agent)
	if err != nil {
		return err
	}
	key, before := hubid.Host(env, agent), agent.Status.DeepCopy()
	view, record, err := r.hub.View(ctx, key)
	if service.IsNotFound(err) {
		made, failure := r.recover(ctx, agent, env)
		if !made {
			said := notAvailable()
			if _, wrong := errors.AsType[inputError](failure); wrong {
				said = append(said, list(map[string]verdict{agentv1.ConditionSpecSynced: specSynced(failure)})...)
				failure = reconcile.WaitFor(lookAgain, "the host to be put back into the hub: %v", failure)
			}
			setConditions(&agent.Status, said, metav1.Now())
			return cmp.Or(failure, reconcile.WaitFor(0, "the host to register again: the hub has no record of it"))
		}
		view, record, err = r.hub.View(ctx, key)
	}
	if err == nil && view.Restored {
		if err := r.putBack(ctx, agent, env, view); err != nil {
			return err
		}
		view, record, err = r.hub.View(ctx, key)
	}
	if err != nil {
		return &reconcile.Unavailable{What: "the hub's store", Err: err}
	}
	if written, err := r.origin(ctx, agent, view); written || err != nil {
		return err
	}
	if written, err := r.inherit(ctx, agent, env, view.Status); written || err != nil {
		return err
	}
	pushed, synced := r.push(ctx, agent, env, view, &record)
	if pushed {
		view, record, err = r.hub.View(ctx, key)
		if err != nil {
			return &reconcile.Unavailable{What: "the hub's store", Err: err}
		}
	}
	showAddresses(&agent.Status, env.Status.InfraEnvDebugInfo.EventsURL, &record)
	agent.Status.CSRStatus = csrStatus(view.Signing)
	project(&agent.Status, &record, view.Approved, synced, metav1.Now())
	if equality.Semantic.DeepEqual(before, &agent.Status) { // it is stored first, which wakes us
		if err := r.keep(ctx, agent, env, view); err != nil {
			return err
		}
	}
	if synced != nil {
		return reconcile.WaitFor(lookAgain, "the hub to take the spec: %v", synced)
	}
	return nil
}

// infraEnv returns the environment that the Agent belongs to.
func (r *reconciler) infraEnv(ctx context.Context, agent *agentv1.Agent) (*agentv1.InfraEnv, error) {
	env := &agentv1.InfraEnv{}
	name := agent.Labels[names.InfraEnvLabel]
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: agent.Namespace, Name: name}, env)
	switch {
	case apierrors.IsNotFound(err):
		setConditions(&agent.Status, []agentv1.Condition{{
			Type: agentv1.ConditionSpecSynced, Status: "False", Reason: agentv1.ReasonInputError,
			Message: fmt.Sprintf("label %s names InfraEnv %q, which does not exist: correct the label or delete the Agent", names.InfraEnvLabel, name),
		}}, metav1.Now())
		return nil, reconcile.WaitFor(lookAgain, "InfraEnv %q to exist", name)
	case err != nil:
		return nil, fmt.Errorf("InfraEnv %q of the agent: %w", name, err)
	}
	return env, nil
}

// forget removes the host from the hub.
func (r *reconciler) forget(ctx context.Context, agent *agentv1.Agent) error {
	env := &agentv1.InfraEnv{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: agent.Namespace, Name: agent.Labels[names.InfraEnvLabel]}, env)
	if err != nil {
		return client.IgnoreNotFound(err) // the environment's record went with its hosts
	}
	key := hubid.Host(env, agent)
	if err := r.hub.DeleteHost(ctx, key); err != nil && !service.IsNotFound(err) {
		return fmt.Errorf("remove host %s from the hub: %w", agent.Name, err)
	}
	return nil
}
