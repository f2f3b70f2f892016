package host

import (
	"cmp"
	"errors"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/controllers/host/execute"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/observe"
	"github.com/ironflow/ironflow/controllers/host/resources"
	"github.com/ironflow/ironflow/controllers/host/schedule"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// reportingController is what events name as their source, as the existing
// operator does.
const reportingController = "metal3.io/baremetal-controller"

// defaultConcurrency is how many hosts are worked on at once: passes mostly wait
// for answers.
const defaultConcurrency = 100

// Setup adds the controller to a manager. The manager's scheme must know
// metal3.io/v1alpha1. Its client must read its own writes
// (client.CacheOptions.EnableReadYourWritesConsistency): a pass begins where the last
// one ended.
func Setup(mgr ctrl.Manager, o Options) error {
	r, err := newController(mgr, o)
	if err != nil {
		return err
	}
	return r.register(mgr, r)
}

// newController makes the controller for a manager.
func newController(mgr ctrl.Manager, o Options) (*Reconciler, error) {
	r, err := newReconciler(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetCache(), o)
	if err != nil {
		return nil, err
	}
	if err := metrics.RegisterFleet(o.Metrics, mgr.GetClient()); err != nil {
		return nil, err
	}
	r.recorder = reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)}
	return r, nil
}

// register has a manager run passes: those of the controller, or of what a test puts
// around it.
func (r *Reconciler) register(mgr ctrl.Manager, passes kreconcile.Reconciler) error {
	b := ctrl.NewControllerManagedBy(mgr).Named(cmp.Or(r.options.Name, "baremetalhost")).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cmp.Or(r.options.Concurrency, defaultConcurrency), RateLimiter: r.schedule.Retries(),
		})
	b, err := r.schedule.Watch(mgr, b)
	if err != nil {
		return err
	}
	return b.Complete(passes)
}

// newReconciler makes the controller without a manager. live reads from the API
// server, cache reads what is cached without waiting for writes.
func newReconciler(c client.Client, live, cache client.Reader, o Options) (*Reconciler, error) {
	if (o.Gateway == nil || o.Watch == nil) && (o.Ironics == nil || len(o.Ironics.All()) == 0) {
		return nil, errors.New("host controller: Gateway and Watch, or Ironics, must be set")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Settings.Architecture == "" {
		o.Settings.Architecture = nodespec.OwnArchitecture()
	}
	m, err := metrics.New(o.Metrics, o.HostSeries)
	if err != nil {
		return nil, err
	}
	r := &Reconciler{
		client: c, options: o, metrics: m, memories: &memory.Memories{},
		ironics: ironics.Set{Several: o.Ironics, One: ironics.Endpoint{Gateway: o.Gateway, Watch: o.Watch}},
	}
	r.schedule = schedule.New(schedule.Options{
		Ironics: r.ironics, Limits: o.Limits, Hosts: cache, Memories: r.memories,
		Progress: o.ProgressChanged, Media: o.Media, Events: o.Events, Firmware: o.Firmware != nil, Preflights: o.Preflights != nil,
	})
	store := resources.Store{Client: c, Live: live, Cache: cache}
	r.observer = observe.Observer{
		Now: o.Now, Settings: o.Settings, Store: store, Metrics: m, Progress: o.Progress, Reads: o.Reads, Media: o.Media, Firmware: o.Firmware,
		Preflights: o.Preflights,
	}
	r.tools = execute.Tools{Store: store, Hosts: cache, Slots: r.schedule.Slots, Media: o.Media, Firmware: o.Firmware}
	return r, nil
}
