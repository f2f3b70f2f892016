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

// parting is the removal of a leaving host's subscription. It is begun while the host is
// still there and its Secret can be read, holds up nothing, and goes on when the host is
// gone. What is left at a BMC that cannot be reached is refused by the receiver, and
// removed when the BMC is some host's again.
type parting struct {
	uid    types.UID
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
// was one, nothing is asked.
func (r *reconciler) begin(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) error {
	key := kclient.ObjectKeyFromObject(h)
	r.mu.Lock()
	p := r.parting[key]
	r.mu.Unlock()
	if p != nil && p.uid == h.UID || meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Subscribed) == nil {
		return nil
	}
	wanted, err := r.wanted(ctx, h)
	if err != nil {
		return err
	}
	c, err := r.options.Parting(ctx, h)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parting[key] = &parting{uid: h.UID, c: c, wanted: wanted, until: r.options.Now().Add(partingTime)}
	return nil
}

// part tries to remove the subscription of a host that leaves or has left; h is nil for
// one that has.
func (r *reconciler) part(ctx context.Context, key types.NamespacedName, h *metal3.BareMetalHost) (ctrl.Result, error) {
	r.mu.Lock()
	p := r.parting[key]
	if h == nil && p != nil && p.c == nil {
		delete(r.parting, key)
	}
	r.mu.Unlock()
	if p == nil || p.c == nil {
		return ctrl.Result{}, nil
	}
	ctx, stop := context.WithTimeout(ctx, longestTry)
	defer stop()
	_, err := events.Remove(ctx, p.c, p.wanted)
	if err != nil && !hopeless(err) && r.options.Now().Before(p.until) {
		return ctrl.Result{RequeueAfter: partingPause}, nil
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
	return ctrl.Result{}, nil
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
