package bmcevents

import (
	"context"
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/controllers/bmcstatus"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// concurrency is how many BMCs are looked at at once; passes mostly wait for answers.
const concurrency = 64

// reportingController is what events name as their source.
const reportingController = "ironflow.io/bmc-events-controller"

// Connect makes the client of a host's BMC.
type Connect func(ctx context.Context, h *metal3.BareMetalHost) (*client.Client, error)

// Options wire the controller. All but TestTime and Metrics are required.
type Options struct {
	// Keys derive the secret addresses of hosts; URL is how BMCs reach the receiver.
	Keys events.Keys
	URL  string
	// Connect makes the clients that other controllers use, too.
	Connect Connect
	// Parting makes clients of hosts that leave: nobody else drops them. Parted is told
	// when one is not needed any more, by namespace and name of the host.
	Parting Connect
	Parted  func(key string)
	// Every is the time between two looks at a subscription that is in order.
	Every time.Duration
	// TestTime is how long a test event may take; 0 for 30 s.
	TestTime time.Duration
	// Metrics is where the metrics are registered; nil for nowhere.
	Metrics prometheus.Registerer
	// Now is the time.
	Now func() time.Time
}

// Setup adds the controller to a manager, and makes the dispatcher, which the caller runs on
// every replica.
func Setup(mgr ctrl.Manager, o Options) (*Dispatcher, error) {
	if o.TestTime == 0 {
		o.TestTime = testTime
	}
	recorder := reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)}
	dispatcher := &Dispatcher{
		recorder: recorder, now: o.Now, notes: newNotes(mgr.GetClient(), o.Now), hosts: map[types.UID]*host{}, machines: map[machine]int{},
		leads: func() bool {
			select {
			case <-mgr.Elected():
				return true
			default:
				return false
			}
		},
	}
	dispatcher.receiver = events.NewReceiver(events.Options{Keys: o.Keys, Sink: dispatcher, Heard: dispatcher.heard, Now: o.Now})
	var err error
	if dispatcher.counts, err = newCounts(o.Metrics, dispatcher.receiver.Counts); err != nil {
		return nil, err
	}
	r := &reconciler{
		client: mgr.GetClient(), options: o, dispatcher: dispatcher, recorder: recorder,
		status: bmcstatus.Writer{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}, streams: &streams{sink: dispatcher, by: map[types.NamespacedName]*stream{}},
		looks: map[types.NamespacedName]look{}, parting: map[types.NamespacedName][]*parting{},
	}
	if err := mgr.Add(r.streams); err != nil {
		return nil, err
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("bmc-events").WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		For(&metal3.BareMetalHost{}, builder.WithPredicates(matters{})).
		Watches(&v1alpha1.BMC{}, bmcHandler(dispatcher), builder.WithPredicates(told{})).
		Complete(r)
	if err != nil {
		return nil, fmt.Errorf("set up the controller of BMC events: %w", err)
	}
	return dispatcher, nil
}

// bmcHandler takes notes of other replicas, and has hosts looked at whose BMC has
// another report.
func bmcHandler(dispatcher *Dispatcher) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			q.Add(ctrl.Request{NamespacedName: kclient.ObjectKeyFromObject(e.Object)})
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			before, was := e.ObjectOld.(*v1alpha1.BMC)
			after, is := e.ObjectNew.(*v1alpha1.BMC)
			if !was || !is {
				return
			}
			if note := after.Annotations[names.Told]; note != before.Annotations[names.Told] && note != "" {
				for _, owner := range after.OwnerReferences {
					dispatcher.take(owner.UID, note)
				}
			}
			if probedAt(before) != probedAt(after) || before.Status.Report == nil {
				q.Add(ctrl.Request{NamespacedName: kclient.ObjectKeyFromObject(after)})
			}
		},
	}
}

// told lets those updates of BMCs through that bring a note or another report.
type told struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (told) Update(e event.TypedUpdateEvent[kclient.Object]) bool {
	before, was := e.ObjectOld.(*v1alpha1.BMC)
	after, is := e.ObjectNew.(*v1alpha1.BMC)
	return was && is && (before.Annotations[names.Told] != after.Annotations[names.Told] || probedAt(before) != probedAt(after) ||
		(before.Status.Report == nil) != (after.Status.Report == nil))
}

// Delete implements predicate.Predicate.
func (told) Delete(event.TypedDeleteEvent[kclient.Object]) bool { return false }

// matters lets those updates of hosts through that a pass depends on.
type matters struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (matters) Update(e event.TypedUpdateEvent[kclient.Object]) bool {
	before, was := e.ObjectOld.(*metal3.BareMetalHost)
	after, is := e.ObjectNew.(*metal3.BareMetalHost)
	return was && is && seenOf(before) != seenOf(after)
}

// seen is what a pass depends on of a host.
type seen struct {
	bmc               metal3.BMCDetails
	credentials, off  string
	state             metal3.ProvisioningState
	underWay, leaving bool
	generation        int
}

// A new version of the Secret shows as the one that the host controller has tried.
func seenOf(h *metal3.BareMetalHost) seen {
	return seen{
		bmc: h.Spec.BMC, credentials: h.Status.TriedCredentials.Version, off: reconcile.KeptOff(h), state: h.Status.Provisioning.State,
		underWay: underWay(h), leaving: !h.DeletionTimestamp.IsZero(), generation: generation(h),
	}
}
