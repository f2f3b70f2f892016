package bmcrotation

import (
	"context"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/controllers/bmcstatus"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// loop is what the controllers of passwords and of certificates have in common.
type loop struct {
	client kclient.Client
	live   kclient.Reader
	// cache reads what is known now. The client would wait for writes that are under way,
	// and hold up what wakes hosts.
	cache  kclient.Reader
	places *places
}

// work is what each of them has of its own.
type work interface {
	// condition is the type of the one that it writes of a host's BMC.
	condition() string
	// owner is who has a host's place at the gate.
	owner(host string) string
	// concerned reports a host that has something to be done, by its record that the reader has.
	concerned(ctx context.Context, reader kclient.Reader, h *metal3.BareMetalHost) (bool, error)
	// pass carries a change as far as it goes now.
	pass(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (reason.Wait, error)
	// gone is for a host that does not exist any more.
	gone(ctx context.Context, key types.NamespacedName) (ctrl.Result, error)
}

// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs,verbs=get;list;watch
// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;update;patch;delete

// reconcile runs one pass for the host named by req.
func (l loop) reconcile(ctx context.Context, req ctrl.Request, w work) (ctrl.Result, error) {
	h := &metal3.BareMetalHost{}
	if err := l.client.Get(ctx, req.NamespacedName, h); err != nil {
		if apierrors.IsNotFound(err) {
			return w.gone(ctx, req.NamespacedName)
		}
		return ctrl.Result{}, err
	}
	concerned := mayBeAsked(h)
	if concerned {
		var err error
		if concerned, err = w.concerned(ctx, l.client, h); err != nil {
			l.places.leave(w.owner(req.String()))
			return ctrl.Result{}, err
		}
	}
	if !concerned {
		l.places.leave(w.owner(req.String())) // others need not wait until the host is let go of
		return ctrl.Result{}, nil
	}
	b := &v1alpha1.BMC{}
	if err := l.client.Get(ctx, req.NamespacedName, b); err != nil {
		return ctrl.Result{}, kclient.IgnoreNotFound(err) // the controller of BMCs makes it, which wakes the host
	}
	wait, err := w.pass(ctx, h, b)
	if apierrors.IsForbidden(err) {
		wait = reason.Wait{For: askForRight, Condition: reason.Unsupported.Condition(
			"Ironflow lacks a right: " + err.Error() + ". Next: kubectl apply -k config/bmc-rotation")}
	} else if err != nil {
		return again(err)
	}
	before := b.DeepCopy()
	reconcile.SetCondition(b, w.condition(), wait.Condition.Status, string(wait.Condition.Reason), wait.Condition.Message)
	writer := bmcstatus.Writer{Client: l.client, Live: l.live}
	return bmcstatus.Outcome(wait.For, writer.Save(ctx, before, b))
}

// askForRight is when a right that is missing is asked for again: nothing tells when it is given.
const askForRight = time.Minute

// again tells the queue that a pass has failed. No condition says why, so that it is
// tried again whatever the error is.
func again(err error) (ctrl.Result, error) {
	if reconcile.IsConflict(err) {
		return reconcile.RetryConflict(), nil
	}
	return ctrl.Result{}, err
}

// mayBeAsked reports a host whose BMC is ours to talk to.
func mayBeAsked(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return state != metal3.StateNone && state != metal3.StateUnmanaged && reconcile.KeptOff(h) == "" && h.Spec.BMC.Address != ""
}
