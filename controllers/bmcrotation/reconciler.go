package bmcrotation

import (
	"context"
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/redfish"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// reconciler changes the password of one host's BMC; its key is the host's.
type reconciler struct {
	client  kclient.Client
	live    kclient.Reader
	options Options
	places  *places
}

// askAgain is when a node that was busy is looked at again.
const askAgain = time.Minute

// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs,verbs=get;list;watch
// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;patch;delete

// Reconcile runs one pass for the host named by req.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	h := &metal3.BareMetalHost{}
	if err := r.client.Get(ctx, req.NamespacedName, h); err != nil {
		if apierrors.IsNotFound(err) {
			return r.orphan(ctx, req.NamespacedName)
		}
		return ctrl.Result{}, err
	}
	b := &v1alpha1.BMC{}
	if err := r.client.Get(ctx, req.NamespacedName, b); err != nil {
		return ctrl.Result{}, kclient.IgnoreNotFound(err) // the controller of BMCs makes it, which wakes the host
	}
	if concerned, err := r.concerned(ctx, h); err != nil || !concerned {
		r.places.leave(req.String()) // others need not wait until the host is let go of
		return ctrl.Result{}, err
	}
	wait, err := r.pass(ctx, h, b)
	if err != nil {
		if reconcile.IsConflict(err) {
			return reconcile.RetryConflict(), nil
		}
		return ctrl.Result{}, err
	}
	saver := reconcile.NewSaver(r.client, b)
	reconcile.SetCondition(b, v1alpha1.CredentialsCurrent, wait.Condition.Status, string(wait.Condition.Reason), wait.Condition.Message)
	if _, err := saver.Status(ctx, b); err != nil {
		if reconcile.IsConflict(err) {
			return reconcile.RetryConflict(), nil
		}
		return ctrl.Result{}, kclient.IgnoreNotFound(err)
	}
	return ctrl.Result{RequeueAfter: wait.For}, nil
}

// concerned reports a host that a change is asked for, or due some day, and one that had
// one: its record says how far it is, and a host on its way out is carried on with.
func (r *reconciler) concerned(ctx context.Context, h *metal3.BareMetalHost) (bool, error) {
	switch h.Status.Provisioning.State {
	case metal3.StateNone, metal3.StateUnmanaged:
		return false, nil
	default:
	}
	if reconcile.KeptOff(h) != "" || h.Spec.BMC.Address == "" {
		return false, nil
	}
	if h.DeletionTimestamp.IsZero() && (r.options.Every > 0 || h.Annotations[names.RotateCredentials] != "") {
		return true, nil
	}
	err := r.client.Get(ctx, recordKey(h), &corev1.Secret{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// pass carries the change as far as it goes now. Whether the node is at rest is asked
// when everything else is well: most passes end without a word to Ironic.
func (r *reconciler) pass(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (rotation.Wait, error) {
	o, target, err := r.observe(ctx, h, b)
	if err != nil {
		return rotation.Wait{}, err
	}
	key := kclient.ObjectKeyFromObject(h).String()
	n, s := &node{host: h, ironics: r.options.Ironics}, &store{client: r.client, live: r.live, host: h}
	rotator := &credentials.Rotator{
		Store: s, Node: n,
		// The report's account may be that of the user before; it is looked for instead.
		BMC:  &redfish.Host{Pool: r.options.BMCs, Key: key, Target: target, Attributes: o.Limits.Attributes},
		Gate: r.places.gate, Address: r.places.enter(key, baseOf(h)), Random: r.options.Random, Now: r.options.Now, Log: r.options.Log,
	}
	wait, err := rotator.Pass(ctx, o)
	if err == nil && wait.Condition.Reason == reason.NotAtRest && restful(h) {
		if why := n.busy(ctx); why != "" {
			wait.For, wait.Condition.Message = askAgain, fmt.Sprintf("%s: %s", wait.Condition.Message, why)
		} else {
			o.AtRest = true
			wait, err = rotator.Pass(ctx, o)
		}
	}
	if err != nil {
		return wait, err
	}
	return wait, s.settle(ctx)
}
