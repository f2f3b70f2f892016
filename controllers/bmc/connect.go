package bmc

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// Connect makes the clients of hosts' BMCs for other controllers: those of this one,
// so that a BMC has one client. A host may outlive its kind BMC. What a person has to mend is a reconcile.Stalled.
func Connect(mgr ctrl.Manager, o Options) func(ctx context.Context, h *metal3.BareMetalHost) (*client.Client, error) {
	r := &reconciler{client: mgr.GetClient(), secrets: secretcache.Reader{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}, options: o}
	return func(ctx context.Context, h *metal3.BareMetalHost) (*client.Client, error) {
		b := &v1alpha1.BMC{}
		if err := r.client.Get(ctx, kclient.ObjectKeyFromObject(h), b, kclient.UnsafeDisableDeepCopy); kclient.IgnoreNotFound(err) != nil {
			return nil, err
		}
		_, c, err := r.connect(ctx, h, b)
		return c, err
	}
}
