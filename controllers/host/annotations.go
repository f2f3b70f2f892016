package host

import (
	"context"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// What a pass answers to annotations with.

// announce writes down that a restart is about to be asked for, in the place of what
// asked for it.
func (p *pass) announce(ctx context.Context, a policy.Announce) error {
	p.o.TurnedAway = false
	return p.saver.Metadata(ctx, p.o.Host, func(h *metal3.BareMetalHost) {
		for _, key := range a.Drop {
			delete(h.Annotations, key)
		}
		metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Rebooting, a.Mark.Value())
	})
}

// acknowledgeRetry notes the present value of the annotation in the status: once
// the attempt has begun that it asked for, and when an error is recorded, which a
// value from before cannot have been meant for.
func (p *pass) acknowledgeRetry() {
	h := p.o.Host
	value, asked := h.Annotations[names.Retry]
	switch {
	case !asked:
		reconcile.DropCondition(h, policy.RetryCondition)
	case p.failedNow, p.o.Retry && !p.o.Failing():
		reconcile.SetCondition(h, policy.RetryCondition, metav1.ConditionTrue, policy.ReasonRetryHandled, policy.RetryMessage(value))
	}
}
