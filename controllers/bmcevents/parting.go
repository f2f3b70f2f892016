package bmcevents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// parting is the removal of a subscription from the BMC of a leaving host, or from one that
// a host had before. It is begun while the Secret can be read, holds up nothing, and
// goes on when the host is gone. What is left at a BMC that cannot be reached is refused by
// the receiver, and removed when the BMC is some host's again.
type parting struct {
	host   *metal3.BareMetalHost // as it was at that BMC
	wanted *events.Wanted
	c      *client.Client // of the last try
	until  time.Time      // zero before the first
	over   bool
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

// begin takes along what is needed to remove a host's subscriptions from BMCs.
// Subscriptions that no host owns stay: the list of hosts would be old when they are
// looked for.
func (r *reconciler) begin(ctx context.Context, h *metal3.BareMetalHost, from []place) error {
	key := kclient.ObjectKeyFromObject(h)
	for _, p := range from {
		was := p.host(h)
		if slices.ContainsFunc(r.partings(key), func(p *parting) bool { return sourceOf(p.host) == sourceOf(was) }) {
			continue
		}
		wanted, err := r.wanted(ctx, was)
		if err != nil {
			return err
		}
		wanted.Orphan = nil
		r.mu.Lock()
		r.parting[key] = append(r.parting[key], &parting{host: was, wanted: wanted})
		r.mu.Unlock()
	}
	return nil
}

// partings are those of a host.
func (r *reconciler) partings(key types.NamespacedName) []*parting {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.parting[key])
}

// end forgets partings of a host.
func (r *reconciler) end(key types.NamespacedName, which func(p *parting) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parting[key] = slices.DeleteFunc(r.parting[key], which); len(r.parting[key]) == 0 {
		delete(r.parting, key)
	}
}

// moved lets go of what is known of the BMC that a host had before.
func (r *reconciler) moved(h *metal3.BareMetalHost) {
	key := kclient.ObjectKeyFromObject(h)
	if last := r.last(key); last.Source != "" && last.Source != sourceOf(h) {
		r.forget(key)
	}
}

// rest goes on with partings from other BMCs than the host's, and says when they are tried
// again, 0 for never. One from this BMC is off: the host has come back to it.
func (r *reconciler) rest(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) time.Duration {
	key := kclient.ObjectKeyFromObject(h)
	r.end(key, func(p *parting) bool {
		back := sourceOf(p.host) == sourceOf(h)
		if back && p.c != nil && !p.over {
			r.options.Parted(key.String())
		}
		return back
	})
	wait := r.part(ctx, key, h)
	over := map[string]bool{}
	for _, p := range r.partings(key) {
		over[sourceOf(p.host)] = p.over
	}
	kept := slices.DeleteFunc(r.places(h, b), func(p place) bool { return over[sourceOf(p.host(h))] })
	if err := r.keepPlaces(ctx, h, b, kept); err != nil {
		return partingPause // those that are over stay known
	}
	r.end(key, func(p *parting) bool { return p.over })
	return wait
}

// part tries to remove subscriptions of a host that leaves or has left, or has other BMCs
// now, and says when it is tried again, 0 for never; h is nil for one that has left. It is
// done at one BMC after the other, since there is one client for each host.
func (r *reconciler) part(ctx context.Context, key types.NamespacedName, h *metal3.BareMetalHost) time.Duration {
	for _, p := range r.partings(key) {
		if p.over {
			continue
		}
		err := r.try(ctx, p)
		if err != nil && !hopeless(err) && r.options.Now().Before(p.until) {
			return partingPause
		}
		if err != nil && h != nil {
			r.recorder.Record(h, nil, reconcile.Event{Warning: true, Reason: EventLeft, Message: fmt.Sprintf(
				"the event subscription stays at the BMC %s, which could not be asked to remove it: %v; what it sends is refused", baseOf(p.host), err)})
		}
		r.options.Parted(key.String())
		p.over = true // and not to be begun again
	}
	if h == nil {
		r.end(key, func(*parting) bool { return true })
	}
	return 0
}

// try asks a BMC once. A client that was made before the Secret went is of use without it.
func (r *reconciler) try(ctx context.Context, p *parting) error {
	ctx, stop := context.WithTimeout(ctx, longestTry)
	defer stop()
	if p.until.IsZero() {
		p.until = r.options.Now().Add(partingTime)
	}
	if c, err := r.options.Parting(ctx, p.host); err == nil {
		p.c = c
	} else if p.c == nil {
		return err
	}
	_, err := events.Remove(ctx, p.c, p.wanted)
	return err
}

// hopeless reports an error after which another try would do harm, or nothing else.
func hopeless(err error) bool {
	if _, stalled := errors.AsType[*reconcile.Stalled](err); stalled {
		return true
	}
	switch client.KindOf(err) {
	case client.Credentials, client.LockedOut, client.PasswordChange, client.NotRedfish, client.Licence:
		return true
	default:
		return false
	}
}

// leave begins and goes on with the partings of a host that leaves.
func (r *reconciler) leave(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (ctrl.Result, error) {
	key := kclient.ObjectKeyFromObject(h)
	err := r.begin(ctx, h, r.left(h, b))
	r.forget(key)
	if err != nil {
		return reconcile.Resolve(err)
	}
	return ctrl.Result{RequeueAfter: r.part(ctx, key, h)}, nil
}
