package host

import (
	"context"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// MediaGate has virtual media brought to what the host's DataImage says before a
// machine is started. No method blocks.
type MediaGate interface {
	// Media answers from memory and the cache.
	Media(ctx context.Context, key types.NamespacedName) (policy.Media, error)
	// Ask has the media settled. restart says that the machine stays on until then.
	Ask(key types.NamespacedName, restart bool)
	// Started ends what Ask began: the machine runs.
	Started(key types.NamespacedName)
	// OnSettled registers who is told when the media of a host are settled.
	OnSettled(tell func(key types.NamespacedName))
}

// observeMedia asks the gate about a host whose system may want a data image.
func (r *Reconciler) observeMedia(ctx context.Context, h *metal3.BareMetalHost) (policy.Media, error) {
	if r.options.Media == nil || !nodespec.InUse(h) {
		return policy.Media{}, nil
	}
	return r.options.Media.Media(ctx, types.NamespacedName{Namespace: h.Namespace, Name: h.Name})
}

// feedMedia wakes the hosts whose media are settled.
func (r *Reconciler) feedMedia(_ context.Context, q queue) error {
	r.options.Media.OnSettled(func(key types.NamespacedName) {
		r.entrance.call(key)
		q.Add(kreconcile.Request{NamespacedName: key})
	})
	return nil
}
