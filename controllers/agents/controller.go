package agents

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/reconcile"
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
	UpdateHost(ctx context.Context, key store.HostKey, p wire.HostUpdateParams) (wire.Host, error)
	ApproveHost(ctx context.Context, key store.HostKey, approved bool) error
	BindHost(ctx context.Context, key store.HostKey, clusterID string) (wire.Host, error)
	UnbindHost(ctx context.Context, key store.HostKey) (wire.Host, error)
	DeleteHost(ctx context.Context, key store.HostKey) error
}

// Hub is both.
type Hub interface {
	Records
	Actions
}

type reconciler struct {
	reconcile.Reconciler[*agentv1.Agent]
	hub Hub
}

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, hub Hub) error {
	r := &reconciler{hub: hub}
	r.Reconciler = reconcile.Reconciler[*agentv1.Agent]{
		Client:    mgr.GetClient(),
		New:       func() *agentv1.Agent { return &agentv1.Agent{} },
		Finalizer: names.AgentFinalizer,
		Steps:     []reconcile.Step[*agentv1.Agent]{r.sync},
		Delete:    r.forget,
	}
	changes := make(chan event.GenericEvent)
	if err := mgr.Add(&feed{hub: hub, client: mgr.GetClient(), out: changes}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("agents").
		For(&agentv1.Agent{}).
		WatchesRawSource(source.Channel(changes, &handler.EnqueueRequestForObject{})).
		Complete(r)
}

// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=infraenvs,verbs=get;list;watch
// +kubebuilder:rbac:groups=hive.openshift.io,resources=clusterdeployments,verbs=get;list;watch

// sync hands the spec to the hub and shows the record in the status.
func (r *reconciler) sync(ctx context.Context, agent *agentv1.Agent) error {
	key, err := r.key(ctx, agent)
	if err != nil {
		return err
	}
	view, record, err := r.hub.View(ctx, key)
	if service.IsNotFound(err) {
		return reconcile.WaitFor(0, "the host to register again: the hub has no record of it")
	}
	if err != nil {
		return &reconcile.Unavailable{What: "the hub's store", Err: err}
	}
	synced := r.push(ctx, agent, key, view, &record)
	if synced == nil {
		view, record, err = r.hub.View(ctx, key)
		if err != nil {
			return &reconcile.Unavailable{What: "the hub's store", Err: err}
		}
	}
	project(&agent.Status, &record, view.Approved, metav1.Now())
	return specSynced(agent, synced)
}

// push makes the calls that the difference between spec and record asks for.
func (r *reconciler) push(ctx context.Context, agent *agentv1.Agent, key store.HostKey, view service.HostView, record *wire.Host) error {
	if p, differs := settings(agent, record); differs {
		if _, err := r.hub.UpdateHost(ctx, key, p); err != nil {
			return fmt.Errorf("settings: %w", err)
		}
	}
	if agent.Spec.Approved != view.Approved {
		if err := r.hub.ApproveHost(ctx, key, agent.Spec.Approved); err != nil {
			return fmt.Errorf("approval: %w", err)
		}
	}
	return r.bind(ctx, agent, key, view)
}

// settings returns what the spec wants otherwise than the record has it.
func settings(agent *agentv1.Agent, record *wire.Host) (p wire.HostUpdateParams, differs bool) {
	if want := agent.Spec.Hostname; want != "" && want != record.RequestedHostname {
		p.HostName, differs = &want, true
	}
	if want := agent.Spec.Role; want != "" && want != string(wire.HostRoleAutoAssign) && want != string(record.Role) {
		p.HostRole, differs = &want, true
	}
	if want := agent.Spec.InstallationDiskID; want != "" && want != record.InstallationDiskID {
		p.DisksSelectedConfig, differs = []wire.DiskConfigParams{{ID: want, Role: wire.DiskRoleInstall}}, true
	}
	if want := agent.Spec.MachineConfigPool; want != "" && want != record.MachineConfigPoolName {
		p.MachineConfigPoolName, differs = &want, true
	}
	return p, differs
}

// bind brings the host into the cluster of the spec, or out of one. A host of a
// cluster that its InfraEnv gave it stays there.
func (r *reconciler) bind(ctx context.Context, agent *agentv1.Agent, key store.HostKey, view service.HostView) error {
	ref := agent.Spec.ClusterDeploymentName
	if ref == nil || ref.Name == "" {
		return nil
	}
	cd := &hivev1.ClusterDeployment{}
	if err := r.Client.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, cd); err != nil {
		return fmt.Errorf("ClusterDeployment %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	want := hubid.Cluster(cd)
	switch view.ClusterID {
	case want:
		return nil
	case "":
		if _, err := r.hub.BindHost(ctx, key, want); err != nil {
			return fmt.Errorf("bind to %s: %w", ref.Name, err)
		}
		return nil
	default:
		if _, err := r.hub.UnbindHost(ctx, key); err != nil {
			return fmt.Errorf("take the host out of its cluster: %w", err)
		}
		return nil
	}
}

// specSynced shows on the resource why the hub does not take the spec.
func specSynced(agent *agentv1.Agent, err error) error {
	if err == nil {
		return nil
	}
	reason := agentv1.ReasonBackendError
	if code := service.Code(err); code < http.StatusInternalServerError {
		reason = agentv1.ReasonInputError
	}
	agentv1.SetCondition(&agent.Status.Conditions, agentv1.Condition{
		Type: agentv1.ConditionSpecSynced, Status: "False", Reason: reason, Message: err.Error(),
	}, metav1.Now())
	return reconcile.WaitFor(lookAgain, "the hub to take the spec: %v", err)
}

// key is the record's key: the InfraEnv's id and the Agent's name.
func (r *reconciler) key(ctx context.Context, agent *agentv1.Agent) (store.HostKey, error) {
	env := &agentv1.InfraEnv{}
	name := agent.Labels[names.InfraEnvLabel]
	if err := r.Client.Get(ctx, types.NamespacedName{Namespace: agent.Namespace, Name: name}, env); err != nil {
		return store.HostKey{}, fmt.Errorf("InfraEnv %q of the agent: %w", name, err)
	}
	return store.HostKey{InfraEnvID: hubid.InfraEnv(env), HostID: agent.Name}, nil
}

// forget removes the host from the hub.
func (r *reconciler) forget(ctx context.Context, agent *agentv1.Agent) error {
	key, err := r.key(ctx, agent)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := r.hub.DeleteHost(ctx, key); err != nil && !service.IsNotFound(err) {
		return fmt.Errorf("remove host %s from the hub: %w", agent.Name, err)
	}
	return nil
}
