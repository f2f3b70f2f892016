package firmware

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// reportingController is what events name as their source: that of the hosts.
const reportingController = "metal3.io/baremetal-controller"

// Options wire the controller. Gateway is required.
type Options struct {
	// Gateway is the Ironic that is read.
	Gateway Gateway
	// Name names the controller; empty means "firmware".
	Name string
}

// Setup adds the controller to a manager and returns the Keeper that the host
// controller shares with it.
func Setup(mgr ctrl.Manager, o Options) (*Keeper, error) {
	if o.Name == "" {
		o.Name = "firmware"
	}
	keeper := NewKeeper(mgr.GetClient(), o.Gateway, reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)})
	r := newReconciler(mgr.GetClient(), keeper)
	wishes := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return keeper, ctrl.NewControllerManagedBy(mgr).Named(o.Name).
		For(&metal3.BareMetalHost{}, builder.WithPredicates(phaseChanged{})).
		Watches(&metal3.HostFirmwareSettings{}, handler.EnqueueRequestsFromMapFunc(sameName), wishes).
		Watches(&metal3.HostFirmwareComponents{}, handler.EnqueueRequestsFromMapFunc(sameName), wishes).
		Watches(&metal3.HostUpdatePolicy{}, handler.EnqueueRequestsFromMapFunc(sameName), wishes).
		Complete(r)
}

func newReconciler(c client.Client, keeper *Keeper) *reconciler {
	return &reconciler{client: c, keeper: keeper}
}

// sameName maps a resource to the host that it is about.
func sameName(_ context.Context, object client.Object) []kreconcile.Request {
	return []kreconcile.Request{{NamespacedName: client.ObjectKeyFromObject(object)}}
}

// phaseChanged lets those updates of hosts through after which there may be
// something new to read, or to leave alone.
type phaseChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (phaseChanged) Update(e event.TypedUpdateEvent[client.Object]) bool {
	before, ok := e.ObjectOld.(*metal3.BareMetalHost)
	after, still := e.ObjectNew.(*metal3.BareMetalHost)
	return ok && still && seenOf(before) != seenOf(after)
}

// seen is what a pass depends on of a host.
type seen struct {
	state  metal3.ProvisioningState
	id     string
	status metal3.OperationalStatus
	alone  bool
}

func seenOf(h *metal3.BareMetalHost) seen {
	return seen{h.Status.Provisioning.State, h.Status.Provisioning.ID, h.Status.OperationalStatus, leftAlone(h)}
}
