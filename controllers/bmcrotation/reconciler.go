package bmcrotation

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/redfish"
)

// reconciler changes the password of one host's BMC; its key is the host's.
type reconciler struct {
	loop

	options Options
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return r.reconcile(ctx, req, r)
}

func (*reconciler) condition() string { return v1alpha1.CredentialsCurrent }

func (*reconciler) owner(host string) string { return host }

// concerned reports a host that a change is asked for, or due some day, and one that had
// one: its record says how far it is, and a host on its way out is carried on with.
func (r *reconciler) concerned(ctx context.Context, reader kclient.Reader, h *metal3.BareMetalHost) (bool, error) {
	if h.DeletionTimestamp.IsZero() && (r.options.Every > 0 || h.Annotations[names.RotateCredentials] != "") {
		return true, nil
	}
	err := reader.Get(ctx, recordKey(h), &corev1.Secret{})
	return err == nil, kclient.IgnoreNotFound(err)
}

// pass implements [work].
func (r *reconciler) pass(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (reason.Wait, error) {
	o, target, err := r.observe(ctx, h, b)
	if err != nil {
		return reason.Wait{}, err
	}
	n, s := &node{host: h, ironics: r.options.Ironics}, r.store(h)
	rotator := &credentials.Rotator{
		Store: s, Node: n,
		// The report's account may be that of the user before; it is looked for instead.
		BMC:  &redfish.Host{Pool: r.options.BMCs, Key: o.Host, Target: target, Attributes: o.Limits.Attributes},
		Gate: r.places.gate, Address: r.places.enter(o.Host, baseOf(h)), Random: r.options.Random, Now: r.options.Now, Log: r.options.Log,
	}
	wait, err := n.whenAtRest(ctx, func(rests bool) (reason.Wait, error) {
		o.AtRest = rests
		return rotator.Pass(ctx, o)
	})
	if err != nil {
		return wait, err
	}
	return wait, s.settle(ctx)
}
