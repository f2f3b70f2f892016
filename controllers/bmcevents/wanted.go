package bmcevents

import (
	"context"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// wanted is the subscription that a host's BMC is to have.
func (r *reconciler) wanted(ctx context.Context, h *metal3.BareMetalHost) (*events.Wanted, error) {
	w := &events.Wanted{Orphan: r.orphan(ctx)}
	for i, n := range generations(generation(h)) {
		if key := r.options.Keys.Of(sourceOf(h), n); i == 0 {
			w.Key = key
		} else {
			w.Former = append(w.Former, key)
		}
	}
	var err error
	if w.Destination, err = w.Key.Destination(r.options.URL); err != nil {
		return nil, reconcile.Stall(ReasonNotPossible, "--bmc-events-publish-url: %w", err)
	}
	return w, nil
}

// orphan tells subscriptions of ours that no host owns: those of hosts that went while
// nobody could reach the BMC, and those of a secret that was lost. One BMC may serve
// several hosts, hence all are looked at. The list is made once, when it is asked for.
func (r *reconciler) orphan(ctx context.Context) func(part string) bool {
	var owned map[string]types.UID
	return func(part string) bool {
		if owned == nil {
			var hosts metal3.BareMetalHostList
			if err := r.client.List(ctx, &hosts, kclient.UnsafeDisableDeepCopy); err != nil || len(hosts.Items) == 0 {
				return false // nobody knows
			}
			owned = map[string]types.UID{}
			for i := range hosts.Items {
				h := &hosts.Items[i]
				for n := range slices.Values(generations(generation(h))) {
					owned[r.options.Keys.Of(sourceOf(h), n).Part] = h.UID
				}
			}
		}
		_, ours := owned[part]
		return !ours
	}
}
