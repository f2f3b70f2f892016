package subscription

import (
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// proofs remembers on which node a subscription was seen, and how often a BMC
// has refused. Losing it costs a request.
type proofs struct {
	mu       sync.Mutex
	nodes    map[types.UID]string
	failures map[types.UID]int
}

func newProofs() *proofs {
	return &proofs{nodes: map[types.UID]string{}, failures: map[types.UID]int{}}
}

// node returns the node that the subscription was proven on.
func (p *proofs) node(obj *metal3.BMCEventSubscription) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nodes[obj.UID]
}

// on notes a proof, which ends a row of failures.
func (p *proofs) on(obj *metal3.BMCEventSubscription, node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodes[obj.UID] = node
	delete(p.failures, obj.UID)
}

// failed notes a failure and returns when to try again.
func (p *proofs) failed(obj *metal3.BMCEventSubscription) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures[obj.UID]++
	return reconcile.BackOff(string(obj.UID), p.failures[obj.UID])
}

// forget drops what is known of an object that goes.
func (p *proofs) forget(obj *metal3.BMCEventSubscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.nodes, obj.UID)
	delete(p.failures, obj.UID)
}

// hostMatters lets changes of a host through that a decision depends on.
type hostMatters struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (hostMatters) Update(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*metal3.BareMetalHost)
	after, isHost := e.ObjectNew.(*metal3.BareMetalHost)
	if !ok || !isHost {
		return false
	}
	view := func(h *metal3.BareMetalHost) [5]any {
		return [5]any{
			h.Status.Provisioning.ID, h.Status.OperationalStatus == metal3.OperationalStatusDetached,
			h.Status.GoodCredentials.Version, reconcile.KeptOff(h), h.DeletionTimestamp.IsZero(),
		}
	}
	return view(before) != view(after)
}
