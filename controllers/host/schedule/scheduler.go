package schedule

import (
	"context"
	"errors"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/resources"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// Options are what hosts are woken by.
type Options struct {
	Ironics ironics.Set
	// Limits are how many hosts may be at work at once; the zero value sets none.
	Limits capacity.Limits
	// Hosts reads hosts from the cache as it is.
	Hosts client.Reader
	// Memories are told of agents that fell silent.
	Memories *memory.Memories
	// Progress delivers the names of hosts whose progress changed; nil for none.
	Progress <-chan types.NamespacedName
	// Media tells when virtual media are settled; nil for never.
	Media Media
	// Firmware says that firmware resources are kept: changes of them wake their host.
	Firmware bool
	// Events tell what BMCs say by themselves; nil for never.
	Events Events
	// Preflights says that there are BMCs with verdicts: changes of these wake their host.
	Preflights bool
}

// Media tells when the virtual media of a host are settled.
type Media interface {
	OnSettled(tell func(key types.NamespacedName))
}

// Events tell what the BMCs of hosts say by themselves, such as that power was switched.
type Events interface {
	OnHost(tell func(key types.NamespacedName, power bool))
}

// Scheduler decides when a host is looked at.
type Scheduler struct {
	Slots   *Slots
	starts  *startLimiter
	options Options
}

// New makes a scheduler. Before [Scheduler.Watch] nothing waits and nobody is woken.
func New(o Options) *Scheduler {
	slots := &Slots{Queue: capacity.New(o.Limits), Ironics: o.Ironics}
	places := max(1, startPlaces/len(o.Ironics.Watches()))
	return &Scheduler{Slots: slots, starts: newStartLimiter(places), options: o}
}

// Start tells whether a host may be looked at now; done has to be called at the end.
// One that may not is woken when its turn comes.
func (s *Scheduler) Start(ctx context.Context, key types.NamespacedName) (done func(), now bool) {
	return s.starts.start(key, s.ironicOf(ctx, key))
}

// ironicOf names the Ironic of a host by what the cache has of the host. It is empty
// for a host that has none yet, and for all where there is one Ironic.
func (s *Scheduler) ironicOf(ctx context.Context, key types.NamespacedName) string {
	if !s.options.Ironics.Assigns() {
		return ""
	}
	h := &metal3.BareMetalHost{}
	if s.options.Hosts.Get(ctx, key, h, client.UnsafeDisableDeepCopy) != nil {
		return "" // it is gone, or the pass says what is wrong
	}
	_, assigned := s.options.Ironics.Of(h)
	return assigned.Name
}

// Hurry lets the next look at a host pass the start limiter.
func (s *Scheduler) Hurry(key types.NamespacedName) { s.starts.hurry(key) }

// Watch has a controller woken by all that concerns a host.
func (s *Scheduler) Watch(mgr ctrl.Manager, b *builder.Builder) (*builder.Builder, error) {
	index := mgr.GetFieldIndexer()
	err := errors.Join(
		index.IndexField(context.Background(), &metal3.BareMetalHost{}, resources.NamedIndex, resources.IndexNamed),
		index.IndexField(context.Background(), &metal3.BareMetalHost{}, resources.MachineIndex, resources.IndexMachines),
		index.IndexField(context.Background(), &metal3.BareMetalHost{}, nodeIndex, indexNode),
		index.IndexField(context.Background(), &corev1.Secret{}, resources.HeldIndex, resources.IndexHeld),
	)
	if err != nil {
		return nil, fmt.Errorf("index hosts and their Secrets: %w", err)
	}
	ofSecret, ofItsName := handler.EnqueueRequestsFromMapFunc(s.hostsOfSecret), handler.EnqueueRequestsFromMapFunc(sameName)
	b = b.For(&metal3.BareMetalHost{}, builder.WithPredicates(hostChanged)).
		Watches(&metal3.PreprovisioningImage{}, ofItsName). // one that the host has given up has no owner
		Watches(&corev1.Secret{}, ofSecret).
		WatchesMetadata(&corev1.Secret{}, ofSecret, builder.WithPredicates(secretcache.Unlabelled)).
		Watches(&metal3.BareMetalHost{}, handler.EnqueueRequestsFromMapFunc(s.doubles), builder.WithPredicates(machineChanged)).
		WatchesRawSource(source.Func(s.feedNodes))
	if s.options.Progress != nil {
		b = b.WatchesRawSource(source.Func(s.feedProgress))
	}
	if s.options.Media != nil {
		b = b.WatchesRawSource(source.Func(s.feedMedia))
	}
	if s.options.Events != nil {
		b = b.WatchesRawSource(source.Func(s.feedEvents))
	}
	if s.options.Firmware {
		b = b.Watches(&metal3.HostFirmwareSettings{}, ofItsName).
			Watches(&metal3.HostFirmwareComponents{}, ofItsName).
			Watches(&metal3.HostUpdatePolicy{}, ofItsName)
	}
	if s.options.Preflights {
		b = b.Watches(&v1alpha1.BMC{}, ofItsName, builder.WithPredicates(verdictChanged))
	}
	return b, nil
}

// sameName is the host that has the name of an object.
func sameName(_ context.Context, object client.Object) []kreconcile.Request {
	return []kreconcile.Request{{NamespacedName: client.ObjectKeyFromObject(object)}}
}

// hostsOfSecret finds the hosts that refer to a Secret.
func (s *Scheduler) hostsOfSecret(ctx context.Context, secret client.Object) []kreconcile.Request {
	var hosts metal3.BareMetalHostList
	// From the cache as it is: the client would wait for all writes of hosts that are
	// under way, and hold up the news of all Secrets.
	err := s.options.Hosts.List(ctx, &hosts, client.InNamespace(secret.GetNamespace()), client.MatchingFields{resources.NamedIndex: secret.GetName()})
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list hosts of a Secret", "secret", client.ObjectKeyFromObject(secret))
		return nil
	}
	var requests []kreconcile.Request
	for i := range hosts.Items {
		requests = append(requests, kreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&hosts.Items[i])})
	}
	return requests
}
