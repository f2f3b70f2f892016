package host

import (
	"context"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// queue is where the sources put hosts.
type queue = workqueue.TypedRateLimitingInterface[kreconcile.Request]

// feedNodes wakes the hosts whose nodes changed.
func (r *Reconciler) feedNodes(ctx context.Context, q queue) error {
	r.entrance.open(func(key types.NamespacedName) { add(q, key, priorityBegins) })
	r.exit.open(func(key types.NamespacedName) { add(q, key, priorityOver) })
	r.slots.queue.OnGrant(func(key types.NamespacedName) {
		r.entrance.call(key)
		add(q, key, priorityWaits)
	})
	for name, watch := range r.watches() {
		r.slots.queue.Close(name)
		go r.whenRead(ctx, q, name, watch)
	}
	if r.options.Ironics != nil {
		go forward(ctx, r.options.Ironics.Changes(), func(c ironic.EndpointChange) { r.nodeChanged(q, c.Change) })
	} else {
		go forward(ctx, r.options.Watch.Changes(), func(c ironic.Change) { r.nodeChanged(q, c) })
	}
	return nil
}

// whenRead counts the hosts that are at work in an Ironic, once its nodes are known,
// and wakes those that have waited for that: in line, or for an Ironic at all.
func (r *Reconciler) whenRead(ctx context.Context, q queue, name string, watch NodeWatch) {
	select {
	case <-ctx.Done():
		return
	case <-watch.Synced():
	}
	var hosts metal3.BareMetalHostList
	for r.cache.List(ctx, &hosts, client.UnsafeDisableDeepCopy) != nil {
		select { // the cache is starting
		case <-ctx.Done():
			return
		case <-time.After(cacheDelay):
		}
	}
	r.countWorking(name, hosts.Items)
	for i := range hosts.Items {
		if _, assigned := hosts.Items[i].Annotations[names.Ironic]; r.options.several() && !assigned {
			add(q, client.ObjectKeyFromObject(&hosts.Items[i]), priorityBegins)
		}
	}
}

// forward hands on what a channel delivers until the context ends.
func forward[T any](ctx context.Context, from <-chan T, to func(T)) {
	for {
		select {
		case <-ctx.Done():
			return
		case item := <-from:
			to(item)
		}
	}
}

// nodeChanged wakes the host of a node.
func (r *Reconciler) nodeChanged(q queue, change ironic.Change) {
	key, ours := hostOfNode(change)
	if !ours {
		return
	}
	if change.Kind == ironic.LostAgent {
		r.memories.lostAgent(key, change.Row)
	}
	if change.Begins() || change.AwaitsInspection() && r.memories.patient(key, change.UUID) {
		return
	}
	r.entrance.call(key)
	priority := priorityOf(change)
	switch {
	case priority != priorityBusy:
		add(q, key, priority)
	case r.notes.Tokens() < float64(r.noteCosts()): // nothing can be told now
		addAfter(q, key, priority, noteLater)
	default:
		addAfter(q, key, priority, noteSoon)
	}
}

// The order in which hosts are worked on; a host that its own resource or a Secret
// wakes has priority 0. Those that are at work go on before new ones begin, so that
// some are done before all have started; and a machine that waits comes before
// writes to Kubernetes that none waits for, of which a single host can cost several.
const (
	// priorityWaits is of hosts with something to decide: Ironic has done its part.
	priorityWaits = 10
	// priorityOver is of hosts whose node is gone and that are let go of.
	priorityOver = 5
	// priorityBegins is of hosts that the entrance lets in.
	priorityBegins = 2
	// priorityBusy is of hosts that Ironic works on: there is at most something to tell.
	priorityBusy = 1
)

// priorityOf is how soon the host of a node that changed is looked at.
func priorityOf(c ironic.Change) int {
	if (c.Kind == ironic.Changed || c.Kind == ironic.Appeared) && c.Row.UnderWay() {
		return priorityBusy
	}
	return priorityWaits
}

// add puts a host into the queue with a priority.
func add(q queue, key types.NamespacedName, priority int) { addAfter(q, key, priority, 0) }

// addAfter does so after a time, unless something else has put it there by then.
func addAfter(q queue, key types.NamespacedName, priority int, delay time.Duration) {
	request := kreconcile.Request{NamespacedName: key}
	if ordered, ok := q.(priorityqueue.PriorityQueue[kreconcile.Request]); ok {
		ordered.AddWithOpts(priorityqueue.AddOpts{Priority: &priority, After: delay}, request)
		return
	}
	q.AddAfter(request, delay)
}

// feedProgress wakes the hosts whose progress changed.
func (r *Reconciler) feedProgress(ctx context.Context, q queue) error {
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case key, open := <-r.options.ProgressChanged:
				if !open {
					return
				}
				q.Add(kreconcile.Request{NamespacedName: key})
			}
		}
	}()
	return nil
}

// hostOfNode finds the host of a node by the node's name.
func hostOfNode(c ironic.Change) (types.NamespacedName, bool) {
	name := c.Name
	if name == "" {
		name = c.Row.Name
	}
	if name == "" {
		name = c.Previous.Name
	}
	namespace, host, found := strings.Cut(name, names.NodeNameSeparator)
	return types.NamespacedName{Namespace: namespace, Name: host}, found && namespace != "" && host != ""
}
