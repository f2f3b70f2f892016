package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/ironic"
)

// reportingController is what events name as their source, as the existing
// operator does.
const reportingController = "metal3.io/baremetal-controller"

// defaultConcurrency is how many hosts are worked on at once: passes mostly wait
// for answers.
const defaultConcurrency = 100

// gated is the part of them, one in so many, that may be hosts of either gate: enough
// for their calls to Ironic to overlap. What beginners write takes turns beside that.
const gated = 6

// Options wire the controller. Ironics, or Gateway and Watch, are required.
type Options struct {
	// Ironics are the endpoints, in the place of Gateway and Watch; the program runs them.
	Ironics *ironic.Endpoints
	// Limits are how many hosts may be at work at once; the zero value sets none.
	Limits capacity.Limits

	// Gateway is the Ironic that hosts are managed through.
	Gateway Gateway
	// Watch is that Ironic's node watch; the program runs it.
	Watch NodeWatch
	// Progress knows how far hosts at work are; nil for nobody.
	Progress ProgressSource
	// ProgressChanged delivers the names of hosts whose progress changed; nil for none.
	ProgressChanged <-chan types.NamespacedName
	// Reads knows how far BMCs have read live images; nil for nobody.
	Reads ImageReads
	// Media settles virtual media before a machine is started; nil for nobody.
	Media MediaGate
	// Firmware keeps the firmware resources of hosts; nil for nobody.
	Firmware FirmwareKeeper
	// Settings are the flags that decisions depend on.
	Settings policy.Settings
	// Concurrency is the number of hosts worked on at once; 0 means 100.
	Concurrency int
	// Metrics is where the metrics are registered; nil keeps them private.
	Metrics prometheus.Registerer
	// HostSeries adds labels with the host to the metrics that the existing operator
	// has for each host.
	HostSeries bool
	// Name names the controller; empty means "baremetalhost".
	Name string
}

// Setup adds the controller to a manager. The manager's scheme must know
// metal3.io/v1alpha1; its client should read its own writes
// (client.CacheOptions.EnableReadYourWritesConsistency), which for what hosts refer
// to saves passes that end in a conflict. Hosts are read as they were written.
func Setup(mgr ctrl.Manager, o Options) error {
	r, err := newController(mgr, o)
	if err != nil {
		return err
	}
	return r.register(mgr, r)
}

// newController makes the controller with what a manager has for it.
func newController(mgr ctrl.Manager, o Options) (*Reconciler, error) {
	r, err := newReconciler(mgr.GetClient(), mgr.GetAPIReader(), o)
	if err != nil {
		return nil, err
	}
	if err := metrics.RegisterFleet(o.Metrics, mgr.GetClient()); err != nil {
		return nil, err
	}
	r.cache = mgr.GetCache()
	r.recorder = reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)}
	return r, nil
}

// register has a manager call passes for hosts when something has happened to them:
// the queue, what it hears of, and what it does not want to hear. passes are those of
// the controller, or of what stands around it.
func (r *Reconciler) register(mgr ctrl.Manager, passes kreconcile.Reconciler) error {
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &metal3.BareMetalHost{}, secretIndex, indexSecrets)
	if err != nil {
		return fmt.Errorf("index hosts by Secret: %w", err)
	}
	o := r.options
	changed := predicate.And[client.Object](notEcho{r.echoes, r.written}, predicate.Or[client.Object](predicate.GenerationChangedPredicate{},
		predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{}, finalizersChanged{}))
	b := ctrl.NewControllerManagedBy(mgr).Named(cmp.Or(o.Name, "baremetalhost")).
		For(&metal3.BareMetalHost{}, builder.WithPredicates(changed)).
		Owns(&metal3.PreprovisioningImage{}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.hostsOfSecret)).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.hostsOfSecret), builder.WithPredicates(secretcache.Unlabelled)).
		WatchesRawSource(source.Func(r.feedNodes)).
		WithOptions(controller.Options{MaxConcurrentReconciles: cmp.Or(o.Concurrency, defaultConcurrency)})
	if o.ProgressChanged != nil {
		b = b.WatchesRawSource(source.Func(r.feedProgress))
	}
	if o.Media != nil {
		b = b.WatchesRawSource(source.Func(r.feedMedia))
	}
	if o.Firmware != nil {
		b = watchFirmware(b)
	}
	return b.Complete(passes)
}

// newReconciler makes the controller without a manager.
func newReconciler(c client.Client, live client.Reader, o Options) (*Reconciler, error) {
	if (o.Gateway == nil || o.Watch == nil) && (o.Ironics == nil || len(o.Ironics.All()) == 0) {
		return nil, errors.New("host controller: Gateway and Watch, or Ironics, must be set")
	}
	if o.Settings.Architecture == "" {
		o.Settings.Architecture = nodespec.OwnArchitecture()
	}
	m, err := metrics.New(o.Metrics, o.HostSeries)
	if err != nil {
		return nil, err
	}
	c = newTurns(c)
	heard, places := newEchoes(), max(1, cmp.Or(o.Concurrency, defaultConcurrency)/gated)
	return &Reconciler{
		client: c, cache: c, options: o, metrics: m, echoes: heard, written: newWritten(), slots: &slots{queue: capacity.New(o.Limits)}, notes: newNotes(), memories: newMemories(),
		entrance: newGate(places), exit: newGate(places),
		secrets: secrets{client: c, live: live, echoes: heard}, objects: objects{client: c},
	}, nil
}

// secretIndex indexes hosts by the names of all Secrets that they refer to.
const secretIndex = "ironflow.secrets"

func indexSecrets(obj client.Object) []string {
	h, ok := obj.(*metal3.BareMetalHost)
	if !ok {
		return nil
	}
	list := referredSecrets(h)
	if h.Spec.BMC.CredentialsName != "" {
		list = append(list, h.Spec.BMC.CredentialsName)
	}
	return list
}

// hostsOfSecret finds the hosts that refer to a Secret and do not know this version of it.
func (r *Reconciler) hostsOfSecret(ctx context.Context, secret client.Object) []kreconcile.Request {
	var hosts metal3.BareMetalHostList
	// From the cache as it is: the client would wait for all writes of hosts that are
	// under way, and hold up the news of all Secrets.
	err := r.cache.List(ctx, &hosts, client.InNamespace(secret.GetNamespace()), client.MatchingFields{secretIndex: secret.GetName()})
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list hosts of a Secret", "secret", client.ObjectKeyFromObject(secret))
		return nil
	}
	var requests []kreconcile.Request
	for i := range hosts.Items {
		if key := client.ObjectKeyFromObject(&hosts.Items[i]); !r.echoes.ofSecret(key, secret.GetResourceVersion()) {
			requests = append(requests, kreconcile.Request{NamespacedName: key})
		}
	}
	return requests
}
