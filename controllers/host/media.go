package host

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// Media is how a host's virtual media stand before its machine is started. The
// zero value means that nothing stands in the way.
type Media struct {
	// Pending means that the DataImage of the host is not attached (or ejected) yet.
	Pending bool
	// Asked means that the media controller knows that the machine waits for it.
	Asked bool
	// Note is what it waits for, empty for no word.
	Note string
}

// MediaGate has virtual media brought to what the host's DataImage says before a
// machine is started. No method blocks.
type MediaGate interface {
	// Media answers from memory and the cache.
	Media(ctx context.Context, key types.NamespacedName) (Media, error)
	// Ask has the media settled. restart says that the machine stays on until then.
	Ask(key types.NamespacedName, restart bool)
	// Started ends what Ask began: the machine runs.
	Started(key types.NamespacedName)
	// OnSettled registers who is told when the media of a host are settled.
	OnSettled(tell func(key types.NamespacedName))
}

// SettleMedia asks the media controller to settle the host's virtual media.
type SettleMedia struct {
	// Restart says that the machine stays on: its power must not be cut.
	Restart bool
}

// Name implements Action.
func (SettleMedia) Name() string { return "settle virtual media" }

// mediaSettled reports whether a machine may be started. If not, it asks for what
// is missing, once, and waits.
func mediaSettled(o *Observed, d *Decision, restart bool) bool {
	switch {
	case !o.Media.Pending:
		return true
	case !o.Media.Asked:
		d.do(SettleMedia{restart})
	default:
		d.wait(lookAgain, view.Note{
			Step: "settling the data image before the machine starts", Text: o.Media.Note, WaitingFor: "the host's DataImage (deleting it lets the machine start without)",
		})
	}
	return false
}

// observeMedia asks the gate about a host whose system may want a data image.
func (r *Reconciler) observeMedia(ctx context.Context, h *metal3.BareMetalHost) (Media, error) {
	if r.options.Media == nil || !inUse(h) {
		return Media{}, nil
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
