package bmcevents

import (
	"context"
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// parting is the removal of a subscription from the BMC of a leaving host, or from the one
// that a host had before. It is begun while the Secret can be read, holds up nothing, and
// goes on when the host is gone. What is left at a BMC that cannot be reached is refused by
// the receiver, and removed when the BMC is some host's again.
type parting struct {
	voice  string
	c      *client.Client
	wanted *events.Wanted
	until  time.Time
}

const (
	// partingTime is how long a subscription is tried to be removed, partingPause the
	// time between two tries, and longestTry how long one takes.
	partingTime  = 10 * time.Minute
	partingPause = 20 * time.Second
	longestTry   = time.Minute
)

// EventLeft is the reason of an event: a subscription stays at the BMC.
const EventLeft = "EventSubscriptionLeft"

// begin takes along what is needed to remove a host's subscription. Where there never
// was one, nothing is asked. Subscriptions that no host owns stay: the list of hosts would
// be old when they are looked for.
func (r *reconciler) begin(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) error {
	key := kclient.ObjectKeyFromObject(h)
	r.mu.Lock()
	p := r.parting[key]
	r.mu.Unlock()
	never := r.last(key).Known == "" && meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Subscribed) == nil
	if p != nil && p.voice == voiceOf(h) || never {
		return nil
	}
	wanted, err := r.wanted(ctx, h)
	if err != nil {
		return err
	}
	wanted.Orphan = nil
	c, err := r.options.Parting(ctx, h)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parting[key] = &parting{voice: voiceOf(h), c: c, wanted: wanted, until: r.options.Now().Add(partingTime)}
	return nil
}

// moved begins to part from the BMC that a host had before. Where its Secret has gone with
// it, its subscription stays.
func (r *reconciler) moved(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) {
	before := h.DeepCopy()
	before.Spec.BMC = r.last(kclient.ObjectKeyFromObject(h)).BMC
	if before.Spec.BMC.Address == "" || voiceOf(before) == voiceOf(h) {
		return
	}
	err := r.begin(ctx, before, b)
	r.forget(kclient.ObjectKeyFromObject(h))
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("the event subscription stays at the BMC that the host had before; what it sends is refused", "err", err.Error())
	}
}

// rest goes on with a parting from another BMC than the host's, and says when it is tried
// again, 0 for never. One from this BMC is off: the host has come back to it.
func (r *reconciler) rest(ctx context.Context, h *metal3.BareMetalHost) time.Duration {
	key := kclient.ObjectKeyFromObject(h)
	r.mu.Lock()
	p := r.parting[key]
	back := p != nil && p.voice == voiceOf(h)
	if back {
		delete(r.parting, key)
	}
	r.mu.Unlock()
	if back {
		r.options.Parted(key.String())
	}
	if p == nil || back {
		return 0
	}
	return r.part(ctx, key, nil)
}

// part tries to remove the subscription of a host that leaves or has left, and says when
// it is tried again, 0 for never; h is nil for one that has left.
func (r *reconciler) part(ctx context.Context, key types.NamespacedName, h *metal3.BareMetalHost) time.Duration {
	r.mu.Lock()
	p := r.parting[key]
	if h == nil && p != nil && p.c == nil {
		delete(r.parting, key)
	}
	r.mu.Unlock()
	if p == nil || p.c == nil {
		return 0
	}
	ctx, stop := context.WithTimeout(ctx, longestTry)
	defer stop()
	_, err := events.Remove(ctx, p.c, p.wanted)
	if err != nil && !hopeless(err) && r.options.Now().Before(p.until) {
		return partingPause
	}
	if err != nil && h != nil {
		r.recorder.Record(h, nil, reconcile.Event{Warning: true, Reason: EventLeft, Message: fmt.Sprintf(
			"the event subscription stays at the BMC, which could not be asked to remove it: %v; what it sends is refused", err)})
	}
	r.options.Parted(key.String())
	r.mu.Lock()
	defer r.mu.Unlock()
	if h == nil {
		delete(r.parting, key)
	} else {
		p.c = nil // done, and not to be begun again
	}
	return 0
}

// hopeless reports an error after which another try would do harm, or nothing else.
func hopeless(err error) bool {
	switch client.KindOf(err) {
	case client.Credentials, client.LockedOut, client.PasswordChange, client.NotRedfish, client.Licence:
		return true
	default:
		return false
	}
}
