package bmchealth

import (
	"context"
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/controllers/bmcstatus"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// concurrency is how many BMCs are read at once; passes mostly wait for answers.
const concurrency = 64

// reportingController is what events name as their source.
const reportingController = "ironflow.io/bmc-health-controller"

// Events tell of hosts whose parts, or logs, have something new.
type Events interface {
	OnHealth(tell func(key types.NamespacedName))
}

// Options wire the controller. Connect, Interval and Now are required.
type Options struct {
	Connect Connect
	// Interval is the time between two readings of a host.
	Interval time.Duration
	// WithEvents is that of a host whose BMC tells by itself what is new; 0 for the same.
	WithEvents time.Duration
	// Longest bounds a reading; 0 for two minutes.
	Longest time.Duration
	// Events have hosts read at once whose BMCs have something to say; nil for never.
	Events Events
	// Now is the time.
	Now func() time.Time
}

// Setup adds the controller to a manager.
func Setup(mgr ctrl.Manager, o Options) error {
	r := &reconciler{
		client: mgr.GetClient(), status: bmcstatus.Writer{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}, options: o, past: map[types.NamespacedName]kept{}, asked: map[types.NamespacedName]bool{},
		recorder: reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)},
	}
	same := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object kclient.Object) []ctrl.Request {
		return []ctrl.Request{{NamespacedName: kclient.ObjectKeyFromObject(object)}}
	})
	b := ctrl.NewControllerManagedBy(mgr).Named("bmc-health").WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		For(&v1alpha1.BMC{}, builder.WithPredicates(reported)).
		Watches(&metal3.BareMetalHost{}, same, builder.WithPredicates(predicate.Or[kclient.Object](predicate.AnnotationChangedPredicate{}, ready)))
	if o.Events != nil {
		b = b.WatchesRawSource(source.Func(r.hear))
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("set up the controller of health: %w", err)
	}
	return nil
}

// hear has hosts read whose BMCs have something to say.
func (r *reconciler) hear(_ context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	r.options.Events.OnHealth(func(key types.NamespacedName) {
		r.ask(key, true)
		q.Add(ctrl.Request{NamespacedName: key})
	})
	return nil
}

// reported lets the updates of BMCs through that have a first report, and those after which
// a BMC tells, or tells no more, what is new: the next reading is due at another time then.
// What else changes there is no reason to read earlier.
var reported = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, was := e.ObjectOld.(*v1alpha1.BMC)
		after, is := e.ObjectNew.(*v1alpha1.BMC)
		return was && is && (before.Status.Report == nil && after.Status.Report != nil || tells(before) != tells(after))
	},
}

// ready lets the updates of hosts through after which these are ready.
var ready = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, was := e.ObjectOld.(*metal3.BareMetalHost)
		after, is := e.ObjectNew.(*metal3.BareMetalHost)
		return was && is && getsReady(before) && !getsReady(after)
	},
}

// tells reports a BMC that says by itself what is new.
func tells(b *v1alpha1.BMC) bool {
	return meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.Subscribed)
}
