package host

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/execute"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/observe"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/schedule"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reconciler is the BareMetalHost controller. Make one with [Setup].
type Reconciler struct {
	client   client.Client
	options  Options
	ironics  ironics.Set
	schedule *schedule.Scheduler
	observer observe.Observer
	tools    execute.Tools
	memories *memory.Memories
	metrics  *metrics.Metrics
	recorder reconcile.Recorder
}

// Nothing of these kinds is deleted here. The right to delete an object is what API servers with
// the admission plugin OwnerReferencesPermissionEnforcement, such as OpenShift's, want of whoever
// changes its owners, and hosts become owners of Secrets and of what users make by hand.

// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts/finalizers,verbs=update
// +kubebuilder:rbac:groups=metal3.io,resources=hardwaredata,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=metal3.io,resources=hardwaredata/finalizers,verbs=update
// +kubebuilder:rbac:groups=metal3.io,resources=preprovisioningimages,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;list;watch;create;update;patch;delete

// +kubebuilder:rbac:groups=metal3.io,resources=hostfirmwaresettings;hostfirmwarecomponents,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=metal3.io,resources=hostfirmwaresettings/status;hostfirmwarecomponents/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=hostupdatepolicies,verbs=get;list;watch

// Reconcile runs one pass for the host named by req, unless its start has to wait.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	done, now := r.schedule.Start(ctx, req.NamespacedName)
	if !now {
		return ctrl.Result{}, nil
	}
	defer done()
	h := &metal3.BareMetalHost{}
	if err := r.client.Get(ctx, req.NamespacedName, h); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.schedule.Slots.Queue.Leave(req.NamespacedName)
			r.memories.Forget(req.NamespacedName)
			r.observer.Forget(req.NamespacedName)
			r.metrics.Forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	m := r.memories.Get(req.NamespacedName)
	if m.Released != "" && m.Released == h.UID {
		return ctrl.Result{}, nil
	}
	if reconcile.KeptOff(h) == names.Paused {
		r.schedule.Slots.Pause(h)
		r.memories.Unsee(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	r.metrics.AddFor(req.NamespacedName, policy.Count{Metric: metrics.Reconciles})
	result, err := r.pass(ctx, h, m)
	if err != nil {
		r.metrics.AddFor(req.NamespacedName, policy.Count{Metric: metrics.ReconcileErrors})
	}
	return result, err
}

// pass observes, runs and finishes.
func (r *Reconciler) pass(ctx context.Context, h *metal3.BareMetalHost, m memory.Memory) (ctrl.Result, error) {
	saver := reconcile.NewSaver(r.client, h)
	saver.Whole = h.Status.LastUpdated == nil || h.Status.LastUpdated.IsZero()
	e, assigned := r.ironics.Of(h)
	o, err := r.observer.Observe(ctx, h, &m, e.Watch)
	if err != nil {
		if reconcile.IsConflict(err) {
			return r.conflict(h), nil
		}
		return reconcile.Resolve(err)
	}
	o.Ironic = assigned
	r.schedule.Slots.Observe(o)
	p := &pass{
		Reconciler: r, lost: m.LostAgent, told: m.Told,
		Work: execute.Work{Tools: r.tools, Endpoint: e, Log: ctrl.LoggerFrom(ctx), Saver: saver, Known: *o},
	}
	wait, err := p.run(ctx)
	return p.finish(ctx, wait, err)
}

// conflict has a pass repeated that was made from an old copy of its host.
func (r *Reconciler) conflict(h *metal3.BareMetalHost) ctrl.Result {
	r.schedule.Hurry(client.ObjectKeyFromObject(h))
	return reconcile.RetryConflict()
}
