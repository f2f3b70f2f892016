package link

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/link/drain"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/store"
)

// Hub is the part of the hub that is used here; *service.Hub implements it.
type Hub interface {
	// CompleteHost ends an installation whose machine runs from its disk.
	CompleteHost(ctx context.Context, key store.HostKey) error
	// FailHost ends an installation that did not work out. Both may be called
	// again, and change nothing for a host that is not being installed.
	FailHost(ctx context.Context, key store.HostKey, reason string) error
}

// Reconciler links BareMetalHosts and Agents.
type Reconciler struct {
	Client   client.Client
	Hub      Hub
	Recorder reconcile.Recorder
	// Live reads past the cache; nil for the Client.
	Live client.Reader

	// Pause has detached hosts paused.
	Pause bool
	// Nodes sees to the Nodes of machines that are to be cleaned; nil leaves them.
	Nodes *drain.Checker

	deleted sync.Map // by the key of the host: the Agent of it that was deleted, of type *agentv1.Agent
}

// reportingController is what events name as their source.
const reportingController = "ironflow.io/link"

// Options say how the controller works.
type Options struct {
	// Pause has installed hosts paused once they are detached, with their status in an annotation,
	// so that they can be backed up and moved.
	Pause bool
}

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, hub Hub, o Options) error {
	ctx := context.Background()
	fields := mgr.GetFieldIndexer()
	if err := fields.IndexField(ctx, &agentv1.Agent{}, macIndex, agentMACs); err != nil {
		return fmt.Errorf("index agents by MAC address: %w", err)
	}
	if err := fields.IndexField(ctx, &metal3v1.BareMetalHost{}, bootMACIndex, bootMAC); err != nil {
		return fmt.Errorf("index hosts by boot MAC address: %w", err)
	}
	r := &Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Hub: hub, Recorder: reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)},
		Pause: o.Pause, Nodes: &drain.Checker{},
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("link").
		For(&metal3v1.BareMetalHost{}).
		Watches(&metal3v1.PreprovisioningImage{}, &handler.EnqueueRequestForObject{}).
		Watches(&agentv1.Agent{}, handler.EnqueueRequestsFromMapFunc(r.hostsOfAgent)).
		Complete(r)
}

// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts/status,verbs=get;update;patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=metal3.io,resources=preprovisioningimages,verbs=get;list;watch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=infraenvs,verbs=get;list;watch
// +kubebuilder:rbac:groups=hive.openshift.io,resources=clusterdeployments,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update

// Reconcile reads what belongs to the host and applies the plan.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	in, err := r.observe(ctx, req.NamespacedName)
	if err != nil || in.Host == nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	plan := Decide(in)
	if plan.Untouched {
		return ctrl.Result{}, nil
	}
	err = r.apply(ctx, in, plan)
	if reconcile.IsConflict(err) {
		return reconcile.RetryConflict(), nil
	}
	return ctrl.Result{RequeueAfter: plan.After}, client.IgnoreNotFound(err)
}

func (r *Reconciler) observe(ctx context.Context, key types.NamespacedName) (Input, error) {
	host := &metal3v1.BareMetalHost{}
	if err := r.Client.Get(ctx, key, host); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.deleted.Delete(key) // it is no wish about a host of the same name that may come
			r.forgetNode(key)
		}
		return Input{}, err
	}
	in := Input{Host: host, Now: time.Now(), Pause: r.Pause, Nodes: r.Nodes != nil}
	if in.Nodes {
		in.Node = r.Nodes.Heard(key)
	}
	image := &metal3v1.PreprovisioningImage{}
	switch err := r.Client.Get(ctx, key, image); {
	case err == nil:
		in.Image = image
	case client.IgnoreNotFound(err) != nil:
		return Input{}, err
	}
	found, err := r.agentsOf(ctx, host)
	switch len(found) {
	case 0:
	case 1:
		in.Agent = &found[0]
	default:
		in.Claims = found
	}
	if err == nil {
		in.AgentDeleted, err = r.agentDeleted(ctx, in)
	}
	return in, err
}

// apply sends at most one patch per object, against the copy that was decided on.
func (r *Reconciler) apply(ctx context.Context, in Input, plan Plan) error {
	if plan.DeleteAgent && in.Agent.DeletionTimestamp.IsZero() {
		// A machine that registers anew has an Agent of the same name, which is not to go.
		this := client.Preconditions{UID: &in.Agent.UID, ResourceVersion: &in.Agent.ResourceVersion}
		if err := client.IgnoreNotFound(r.Client.Delete(ctx, in.Agent, this)); err != nil {
			return fmt.Errorf("delete agent %s: %w", in.Agent.Name, err)
		}
	}
	if plan.Agent != nil {
		lock := client.MergeFromWithOptions(in.Agent, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Patch(ctx, plan.Agent, lock); err != nil {
			return fmt.Errorf("link agent %s: %w", in.Agent.Name, err)
		}
	}
	if plan.Drain {
		if err := r.drain(ctx, in, plan.Force); err != nil {
			return err
		}
	}
	if plan.Completed || plan.Failed != "" {
		if err := r.tell(ctx, in.Agent, plan); err != nil {
			return fmt.Errorf("end the installation of %s in the hub: %w", in.Host.Name, err)
		}
	}
	if plan.Host != nil {
		lock := client.MergeFromWithOptions(in.Host, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Patch(ctx, plan.Host, lock); err != nil {
			return fmt.Errorf("link host %s: %w", in.Host.Name, err)
		}
	}
	if linkedAgent(in) && !plan.DeleteAgent {
		if err := r.showDeprovision(ctx, cmp.Or(plan.Agent, in.Agent), plan.Deprovision); err != nil {
			return err
		}
	}
	// After the wish, which the condition is about: it is written again until it is told.
	host := cmp.Or(plan.Host, in.Host).DeepCopy()
	if !host.DeletionTimestamp.IsZero() && len(host.Finalizers) == 0 {
		return nil // it is gone
	}
	if err := r.say(ctx, host, plan.Says); err != nil {
		return err
	}
	if givingBack(host) {
		r.deleted.Delete(client.ObjectKeyFromObject(host)) // it is recorded
	}
	return nil
}

// tell tells the hub how the installation of the Agent's machine has ended.
func (r *Reconciler) tell(ctx context.Context, agent *agentv1.Agent, plan Plan) error {
	env := &agentv1.InfraEnv{}
	if err := r.Client.Get(ctx, types.NamespacedName{Namespace: agent.Namespace, Name: agent.Labels[names.InfraEnvLabel]}, env); err != nil {
		return client.IgnoreNotFound(err) // the environment's records went with it
	}
	if plan.Completed {
		return r.Hub.CompleteHost(ctx, hubid.Host(env, agent))
	}
	return r.Hub.FailHost(ctx, hubid.Host(env, agent), plan.Failed)
}
