package schedule

import (
	"context"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/ironic"
)

// cacheDelay is how soon the cache is asked again while it starts.
const cacheDelay = 200 * time.Millisecond

// queue is where the sources put hosts. Each host is in it once.
type queue = workqueue.TypedRateLimitingInterface[kreconcile.Request]

func add(q queue, key types.NamespacedName) { q.Add(kreconcile.Request{NamespacedName: key}) }

// addUrgent puts a host into the queue that passes the start limiter.
func (s *Scheduler) addUrgent(q queue, key types.NamespacedName) {
	s.starts.hurry(key)
	add(q, key)
}

// feedNodes wakes the hosts whose nodes changed.
func (s *Scheduler) feedNodes(ctx context.Context, q queue) error {
	s.starts.open(func(key types.NamespacedName) { add(q, key) })
	s.Slots.Queue.OnGrant(func(key types.NamespacedName) { s.addUrgent(q, key) })
	for name, watch := range s.options.Ironics.Watches() {
		s.Slots.Queue.Close(name)
		go s.whenRead(ctx, q, name, watch)
	}
	if s.options.Ironics.Several != nil {
		go forward(ctx, s.options.Ironics.Several.Changes(), func(c ironic.EndpointChange) { s.nodeChanged(ctx, q, c.Change) })
	} else {
		go forward(ctx, s.options.Ironics.One.Watch.Changes(), func(c ironic.Change) { s.nodeChanged(ctx, q, c) })
	}
	return nil
}

// whenRead gives the hosts of an Ironic their slots and places in line of before the start,
// once its nodes are known, and wakes those that have waited for that: in line, or for an Ironic at all.
func (s *Scheduler) whenRead(ctx context.Context, q queue, name string, watch ironics.Watch) {
	select {
	case <-ctx.Done():
		return
	case <-watch.Synced():
	}
	var hosts metal3.BareMetalHostList
	for s.options.Hosts.List(ctx, &hosts, client.UnsafeDisableDeepCopy) != nil {
		select { // the cache is starting
		case <-ctx.Done():
			return
		case <-time.After(cacheDelay):
		}
	}
	s.Slots.Resume(name, hosts.Items)
	for i := range hosts.Items {
		h := &hosts.Items[i]
		if s.options.Ironics.Assigns() && s.waitedForOne(h) {
			add(q, client.ObjectKeyFromObject(h))
		}
	}
}

// waitedForOne reports whether a host may have waited for an Ironic to be read: it has none
// yet, or its node is not known where it shall be.
func (s *Scheduler) waitedForOne(h *metal3.BareMetalHost) bool {
	if _, assigned := h.Annotations[names.Ironic]; !assigned {
		return true
	}
	e, _ := s.options.Ironics.Of(h)
	_, known := e.Watch.Row(h.Status.Provisioning.ID)
	return !known
}

// forward hands on what a channel delivers until the context ends.
func forward[T any](ctx context.Context, from <-chan T, to func(T)) {
	for {
		select {
		case <-ctx.Done():
			return
		case item, open := <-from:
			if !open {
				return
			}
			to(item)
		}
	}
}

// nodeChanged wakes the hosts of a node. It is urgent if Ironic has done its part.
func (s *Scheduler) nodeChanged(ctx context.Context, q queue, change ironic.Change) {
	for _, key := range s.hostsOfNode(ctx, change) {
		if change.Kind == ironic.LostAgent {
			s.options.Memories.LostAgent(key, change.Row)
		}
		if (change.Kind == ironic.Changed || change.Kind == ironic.Appeared) && change.Row.UnderWay() {
			add(q, key) // there is at most progress to show
			continue
		}
		s.addUrgent(q, key)
	}
}

// feedProgress wakes the hosts whose progress changed.
func (s *Scheduler) feedProgress(ctx context.Context, q queue) error {
	go forward(ctx, s.options.Progress, func(key types.NamespacedName) { add(q, key) })
	return nil
}

// feedMedia wakes the hosts whose media are settled.
func (s *Scheduler) feedMedia(_ context.Context, q queue) error {
	s.options.Media.OnSettled(func(key types.NamespacedName) { s.addUrgent(q, key) })
	return nil
}

// feedEvents wakes the hosts whose BMCs have something to say, and has the changes of
// their Ironic's nodes looked for at once.
func (s *Scheduler) feedEvents(ctx context.Context, q queue) error {
	s.options.Events.OnHost(func(key types.NamespacedName, power bool) {
		if power {
			s.options.Memories.TellPower(key)
		}
		s.addUrgent(q, key)
		own := s.ironicOf(ctx, key)
		for name, watch := range s.options.Ironics.Watches() {
			if own == "" || own == name {
				watch.Nudge()
			}
		}
	})
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
