package host

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"golang.org/x/time/rate"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reconciler is the BareMetalHost controller. Make one with [Setup].
type Reconciler struct {
	client   client.Client
	cache    client.Reader
	options  Options
	slots    *slots
	notes    *rate.Limiter
	secrets  secrets
	objects  objects
	memories *memories
	entrance *gate
	exit     *gate
	echoes   *echoes
	written  *written
	metrics  *metrics.Metrics
	recorder reconcile.Recorder
}

// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts/finalizers,verbs=update
// +kubebuilder:rbac:groups=metal3.io,resources=hardwaredata,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=hardwaredata/finalizers,verbs=update
// +kubebuilder:rbac:groups=metal3.io,resources=preprovisioningimages,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;list;watch;create;update;patch;delete

// Reconcile runs one pass for the host named by req.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	gate, other := r.entrance, r.exit
	if r.memories.get(req.NamespacedName).Removed {
		gate, other = r.exit, r.entrance
	}
	other.yield(req.NamespacedName)
	leave, now := gate.enter(req.NamespacedName)
	if !now {
		return ctrl.Result{}, nil
	}
	if leave != nil {
		defer leave()
	}
	if leave != nil && gate == r.entrance {
		ctx = inTurn(ctx)
	}
	result, err := r.reconcile(ctx, req)
	if err == nil && result.RequeueAfter > 0 && result.RequeueAfter < moment && !r.memories.get(req.NamespacedName).Removed {
		r.entrance.call(req.NamespacedName)
	}
	return result, err
}

// moment is how soon a host has to want another look to be one that goes on, not
// one that begins: after a conflict.
const moment = time.Second

// reconcile works on a host that its gate has let in.
func (r *Reconciler) reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	h, err := r.read(ctx, req.NamespacedName)
	if err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.slots.queue.Leave(req.NamespacedName)
			r.memories.forget(req.NamespacedName)
			r.entrance.forget(req.NamespacedName)
			r.echoes.forget(req.NamespacedName)
			r.written.forget(req.NamespacedName)
			r.metrics.Forget(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	m := r.memories.begin(req.NamespacedName)
	if m.Released != "" && m.Released == h.UID {
		return ctrl.Result{}, nil
	}
	if reconcile.KeptOff(h) == names.Paused {
		r.leavePaused(h)
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
func (r *Reconciler) pass(ctx context.Context, h *metal3.BareMetalHost, m memory) (ctrl.Result, error) {
	saver := reconcile.NewSaver(r.client, h)
	defer func() { r.written.put(saver.Before()) }()
	saver.Whole = h.Status.LastUpdated == nil || h.Status.LastUpdated.IsZero()
	e, assigned := r.ironicOf(h)
	o, err := r.observe(ctx, h, &m, e.watch)
	if err != nil {
		if reconcile.IsConflict(err) {
			return reconcile.RetryConflict(), nil
		}
		return reconcile.Resolve(err)
	}
	o.Ironic = assigned
	r.slots.observe(o)
	p := &pass{Reconciler: r, endpoint: e, log: ctrl.LoggerFrom(ctx), saver: saver, o: *o, lost: m.LostAgent}
	wait, err := p.run(ctx)
	return p.finish(ctx, wait, err)
}
