package bmcrotation

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// matters lets those updates of hosts through that a pass depends on.
type matters struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (matters) Update(e event.TypedUpdateEvent[client.Object]) bool {
	before, was := e.ObjectOld.(*metal3.BareMetalHost)
	after, is := e.ObjectNew.(*metal3.BareMetalHost)
	return was && is && (before.Generation != after.Generation || seenOf(before) != seenOf(after))
}

// seen is what a pass depends on of a host, besides its spec.
type seen struct {
	state                             metal3.ProvisioningState
	status                            metal3.OperationalStatus
	failing                           metal3.ErrorType
	node, request, policy, retry, off string
	certificate                       string
}

func seenOf(h *metal3.BareMetalHost) seen {
	return seen{
		state: h.Status.Provisioning.State, status: h.Status.OperationalStatus, failing: h.Status.ErrorType, node: h.Status.Provisioning.ID,
		request: h.Annotations[names.RotateCredentials], policy: h.Annotations[names.PasswordPolicy], retry: h.Annotations[names.Retry], off: reconcile.KeptOff(h),
		certificate: h.Annotations[names.ReplaceCertificate],
	}
}

// about lets what concerns a host through only if a pass has something to do for it, which
// most hosts never have. A host that goes is let through as well.
func (l loop) about(w work) predicate.Predicate {
	heeds := func(o client.Object) bool {
		ctx := context.Background()
		h, is := o.(*metal3.BareMetalHost)
		if !is {
			h = &metal3.BareMetalHost{}
			if l.cache.Get(ctx, client.ObjectKeyFromObject(o), h, client.UnsafeDisableDeepCopy) != nil {
				return true // the pass says what is wrong
			}
		}
		return l.heeds(ctx, w, h)
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return heeds(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return heeds(e.ObjectNew) },
	}
}

// heeds reports a host that has something to be done, or a place to be given back. What it
// depends on wakes the host when it changes: the host itself, and its record.
func (l loop) heeds(ctx context.Context, w work, h *metal3.BareMetalHost) bool {
	if l.places.holds(w.owner(client.ObjectKeyFromObject(h).String())) {
		return true
	}
	if !mayBeAsked(h) {
		return false
	}
	concerned, err := w.concerned(ctx, l.cache, h)
	return concerned || err != nil
}

// moved lets those updates of hosts through after which others may share their Secret
// or BMC, or not any more. Hosts that come are let through as well, and those that go.
type moved struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (moved) Update(e event.TypedUpdateEvent[client.Object]) bool {
	before, was := e.ObjectOld.(*metal3.BareMetalHost)
	after, is := e.ObjectNew.(*metal3.BareMetalHost)
	return was && is && before.Spec.BMC != after.Spec.BMC
}

// probed lets those updates of BMCs through that bring another report: what passwords
// the BMC takes is in there.
type probed struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (probed) Update(e event.TypedUpdateEvent[client.Object]) bool {
	before, was := e.ObjectOld.(*v1alpha1.BMC)
	after, is := e.ObjectNew.(*v1alpha1.BMC)
	return was && is && probeOf(before) != probeOf(after)
}

func probeOf(b *v1alpha1.BMC) v1alpha1.Probed {
	if b.Status.Probed == nil {
		return v1alpha1.Probed{}
	}
	return *b.Status.Probed
}
