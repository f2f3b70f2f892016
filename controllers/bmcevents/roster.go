package bmcevents

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/ironflow/ironflow/api/names"
)

// keptGenerations is how many former keys of a host are taken, and removed from its BMC.
const keptGenerations = 4

// generation is that of a host's key: another number is another key.
func generation(h *metal3.BareMetalHost) int {
	n, err := strconv.ParseUint(h.Annotations[names.EventKey], 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// generations are those of the keys that a host's BMC may have, the one in use first.
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

// put takes deliveries for a host from now on.
func (e *Ears) put(h *metal3.BareMetalHost) {
	newest, busy := generation(h), underWay(h)
	e.mu.Lock()
	defer e.mu.Unlock()
	if known := e.hosts[h.UID]; known != nil && known.newest == newest {
		known.underWay = busy
		return
	}
	e.receiver.Register(string(h.UID), generations(newest)...)
	e.hosts[h.UID] = &host{
		key: types.NamespacedName{Namespace: h.Namespace, Name: h.Name}, uid: h.UID, newest: newest, underWay: busy,
		alerts: rate.NewLimiter(rate.Every(alertPause), alertBurst),
	}
}

// drop takes none for it any more.
func (e *Ears) drop(h *metal3.BareMetalHost) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.receiver.Forget(string(h.UID))
	delete(e.hosts, h.UID)
}

// Run listens until the context ends, on every replica. It begins when all hosts are
// known: a delivery before that would be refused, which BMCs hold against a subscription.
// open makes the listener.
func (e *Ears) Run(ctx context.Context, hosts cache.Cache, open func(ctx context.Context) (net.Listener, error), config *tls.Config) error {
	informer, err := hosts.GetInformer(ctx, &metal3.BareMetalHost{})
	if err != nil {
		return fmt.Errorf("follow the hosts whose BMCs tell: %w", err)
	}
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
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: handle(e.put), DeleteFunc: handle(e.drop), UpdateFunc: func(_, o any) { handle(e.put)(o) },
	})
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
	go func() { done <- e.receiver.Run(handing) }()
	go e.notes.run(handing)
	err = e.receiver.Serve(ctx, listener, config)
	stop()
	if err != nil {
		return fmt.Errorf("receiver of BMC events: %w", err)
	}
	return <-done
}
