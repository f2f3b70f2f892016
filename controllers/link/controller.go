package link

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/store"
)

// macIndex finds Agents by any of their MAC addresses, and bootMACIndex finds
// BareMetalHosts by their boot MAC address, both in lower case.
const (
	macIndex     = "link.agent.mac"
	bootMACIndex = "link.host.bootmac"
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
}

// reportingController is what events name as their source.
const reportingController = "ironflow.io/link"

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, hub Hub) error {
	ctx := context.Background()
	fields := mgr.GetFieldIndexer()
	if err := fields.IndexField(ctx, &agentv1.Agent{}, macIndex, agentMACs); err != nil {
		return fmt.Errorf("index agents by MAC address: %w", err)
	}
	if err := fields.IndexField(ctx, &metal3v1.BareMetalHost{}, bootMACIndex, bootMAC); err != nil {
		return fmt.Errorf("index hosts by boot MAC address: %w", err)
	}
	r := &Reconciler{Client: mgr.GetClient(), Hub: hub, Recorder: reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)}}
	return ctrl.NewControllerManagedBy(mgr).
		Named("link").
		For(&metal3v1.BareMetalHost{}).
		Watches(&metal3v1.PreprovisioningImage{}, &handler.EnqueueRequestForObject{}).
		Watches(&agentv1.Agent{}, handler.EnqueueRequestsFromMapFunc(r.hostsOfAgent)).
		Complete(r)
}

// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=preprovisioningimages,verbs=get;list;watch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=infraenvs,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update

// Reconcile reads what belongs to the host and applies the plan.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	in, err := r.observe(ctx, req.NamespacedName)
	if err != nil || in.Host == nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	plan := Decide(in)
	if plan.Waiting != "" {
		logr.FromContextOrDiscard(ctx).V(1).Info("link waits", "for", plan.Waiting)
	}
	if plan.Event != nil {
		r.Recorder.Record(in.Host, nil, *plan.Event)
	}
	err = r.apply(ctx, in, plan)
	if reconcile.IsConflict(err) {
		return reconcile.RetryConflict(), nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

func (r *Reconciler) observe(ctx context.Context, key types.NamespacedName) (Input, error) {
	host := &metal3v1.BareMetalHost{}
	if err := r.Client.Get(ctx, key, host); err != nil {
		return Input{}, err
	}
	in := Input{Host: host}
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
	return in, err
}

// agentsOf returns the Agents that may be the host's machine: those of the host's
// infra-env that say they have its boot MAC address. Between a registration and
// its inventory an Agent has no addresses; then the label that an earlier pass has
// set tells. So it does, together with the address, for a host whose own label is
// gone, or names an infra-env in which its machine has not registered yet.
func (r *Reconciler) agentsOf(ctx context.Context, host *metal3v1.BareMetalHost) ([]agentv1.Agent, error) {
	if host.Spec.BootMACAddress == "" {
		return nil, nil
	}
	var linked, claiming agentv1.AgentList
	if err := r.Client.List(ctx, &linked, client.InNamespace(host.Namespace), client.MatchingLabels{names.AgentHostLabel: host.Name}); err != nil {
		return nil, err
	}
	mac, env := strings.ToLower(host.Spec.BootMACAddress), host.Labels[names.InfraEnvLabel]
	own := slices.DeleteFunc(linked.Items, func(a agentv1.Agent) bool { // another machine's, whose host had this name
		macs := agentMACs(&a)
		return len(macs) > 0 && !slices.Contains(macs, mac)
	})
	if env == "" {
		return own, nil
	}
	if err := r.Client.List(ctx, &claiming, client.InNamespace(host.Namespace), client.MatchingLabels{names.InfraEnvLabel: env},
		client.MatchingFields{macIndex: mac}); err != nil {
		return nil, err
	}
	for _, a := range own {
		if a.Labels[names.InfraEnvLabel] == env && len(agentMACs(&a)) == 0 {
			claiming.Items = append(claiming.Items, a)
		}
	}
	if len(claiming.Items) == 0 {
		return own, nil
	}
	return claiming.Items, nil
}

// apply sends at most one patch per object, against the copy that was decided on.
func (r *Reconciler) apply(ctx context.Context, in Input, plan Plan) error {
	if plan.DeleteAgent && in.Agent.DeletionTimestamp.IsZero() {
		if err := client.IgnoreNotFound(r.Client.Delete(ctx, in.Agent)); err != nil {
			return fmt.Errorf("delete agent %s: %w", in.Agent.Name, err)
		}
	}
	if plan.Agent != nil {
		lock := client.MergeFromWithOptions(in.Agent, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Patch(ctx, plan.Agent, lock); err != nil {
			return fmt.Errorf("link agent %s: %w", in.Agent.Name, err)
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

func (r *Reconciler) hostsOfAgent(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	var requests []ctrlreconcile.Request
	for _, mac := range agentMACs(obj) {
		var hosts metal3v1.BareMetalHostList
		if err := r.Client.List(ctx, &hosts, client.InNamespace(obj.GetNamespace()), client.MatchingFields{bootMACIndex: mac}); err != nil {
			logr.FromContextOrDiscard(ctx).Error(err, "cannot find the host of an agent", "agent", obj.GetName())
			continue
		}
		for i := range hosts.Items {
			requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&hosts.Items[i])})
		}
	}
	if name := obj.GetLabels()[names.AgentHostLabel]; name != "" {
		requests = append(requests, ctrlreconcile.Request{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: name}})
	}
	return requests
}

func agentMACs(obj client.Object) []string {
	agent, ok := obj.(*agentv1.Agent)
	if !ok {
		return nil
	}
	var macs []string
	for _, nic := range agent.Status.Inventory.Interfaces {
		if nic.MacAddress != "" {
			macs = append(macs, strings.ToLower(nic.MacAddress))
		}
	}
	return macs
}

func bootMAC(obj client.Object) []string {
	host, ok := obj.(*metal3v1.BareMetalHost)
	if !ok || host.Spec.BootMACAddress == "" {
		return nil
	}
	return []string{strings.ToLower(host.Spec.BootMACAddress)}
}
