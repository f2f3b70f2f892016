package bmcevents

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/address"
)

// keptGenerations is how many former keys of a host are looked for at its BMC.
const keptGenerations = 4

// generation is that of a host's key: another number is another key.
func generation(h *metal3.BareMetalHost) int {
	n, err := strconv.ParseUint(h.Annotations[names.EventKey], 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// generations are those of the keys that a host's BMC may have, the one in use first. What
// comes with the others is refused: somebody may know them.
func generations(newest int) []int {
	var all []int
	for n := newest; n >= 0 && n >= newest-keptGenerations; n-- {
		all = append(all, n)
	}
	return all
}

// underWay reports a host on which something is: it is told of everything. The host
// controller says so; before its first word there may be.
func underWay(h *metal3.BareMetalHost) bool {
	c := meta.FindStatusCondition(h.Status.Conditions, metal3.ProgressingCondition)
	return c == nil || c.Status != metav1.ConditionFalse
}

// baseOf is the address of a host's BMC without its path; empty for one that is not of Redfish.
func baseOf(h *metal3.BareMetalHost) string {
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil {
		return ""
	}
	base, _ := a.URL()
	return base
}

// sourceOf is what a host's keys are made of: the host and its BMC. A BMC that was the
// host's before does not speak for it any more.
func sourceOf(h *metal3.BareMetalHost) string { return string(h.UID) + " " + baseOf(h) }

// put takes deliveries for a host from now on.
func (d *Dispatcher) put(h *metal3.BareMetalHost) {
	source, newest := sourceOf(h), generation(h)
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.hosts[h.UID]
	if known == nil {
		known = &host{
			key: types.NamespacedName{Namespace: h.Namespace, Name: h.Name}, uid: h.UID, alerts: rate.NewLimiter(rate.Every(alertPause), alertBurst),
		}
		d.hosts[h.UID] = known
	}
	known.underWay = underWay(h)
	d.move(known, machineOf(h))
	if known.source == source && known.newest == newest {
		return
	}
	if known.source != source {
		d.receiver.Forget(known.source)
		known.heard, known.waiting = time.Time{}, nil // that was another BMC
	}
	known.source, known.newest = source, newest
	d.receiver.Register(source, newest)
}

// begins notes that something is under way on a host. A pass may know of that before it is heard
// of here, and the stream that it begins wakes a host at rest for less.
func (d *Dispatcher) begins(uid types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.hosts[uid]; known != nil {
		known.underWay = true
	}
}

// drop takes none for it any more.
func (d *Dispatcher) drop(h *metal3.BareMetalHost) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.hosts[h.UID]; known != nil {
		d.receiver.Forget(known.source)
		d.move(known, machine{})
		delete(d.hosts, h.UID)
	}
}

// follow does so with every host that comes, changes and goes. A host that was made anew
// while nobody looked comes as a change of the one before.
func (d *Dispatcher) follow() toolscache.ResourceEventHandler {
	handle := func(do func(*metal3.BareMetalHost)) func(any) {
		return func(o any) {
			if gone, is := o.(toolscache.DeletedFinalStateUnknown); is {
				o = gone.Obj
			}
			if h, is := o.(*metal3.BareMetalHost); is {
				do(h)
			}
		}
	}
	put, drop := handle(d.put), handle(d.drop)
	return toolscache.ResourceEventHandlerFuncs{AddFunc: put, DeleteFunc: drop, UpdateFunc: func(before, after any) {
		was, _ := before.(*metal3.BareMetalHost)
		if is, ok := after.(*metal3.BareMetalHost); ok && was != nil && was.UID != is.UID {
			drop(was)
		}
		put(after)
	}}
}

// Run listens until the context ends, on every replica. It begins when all hosts are
// known: a delivery before that would be refused, which BMCs hold against a subscription.
// open makes the listener.
func (d *Dispatcher) Run(ctx context.Context, hosts cache.Cache, open func(ctx context.Context) (net.Listener, error), config *tls.Config) error {
	informer, err := hosts.GetInformer(ctx, &metal3.BareMetalHost{})
	if err != nil {
		return fmt.Errorf("follow the hosts whose BMCs tell: %w", err)
	}
	registration, err := informer.AddEventHandler(d.follow())
	if err != nil {
		return fmt.Errorf("follow the hosts whose BMCs tell: %w", err)
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil
	}
	listener, err := open(ctx)
	if err != nil {
		return fmt.Errorf("receiver of BMC events: %w", err)
	}
	handing, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- d.receiver.Run(handing) }()
	go d.notes.run(handing)
	err = d.receiver.Serve(ctx, listener, config)
	stop()
	if err != nil {
		return fmt.Errorf("receiver of BMC events: %w", err)
	}
	return <-done
}
