package bmc

import (
	"context"
	"fmt"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// ofFormer reports the BMC of a host that had the name before, and has gone a moment ago.
func ofFormer(b *v1alpha1.BMC, h *metal3.BareMetalHost) bool {
	owner := metav1.GetControllerOf(b)
	return owner != nil && owner.Kind == "BareMetalHost" && owner.UID != h.UID
}

// takeOver makes the BMC of a former host that of the one that has the name now. What was
// known is forgotten first, so that it is at no moment said of this one.
func (r *reconciler) takeOver(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) error {
	saver := reconcile.NewSaver(r.client, b)
	b.Status = v1alpha1.BMCStatus{}
	if _, err := saver.Status(ctx, b); err != nil {
		return err
	}
	owned := b.DeepCopy()
	owned.OwnerReferences = slices.DeleteFunc(owned.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "BareMetalHost" })
	if err := r.own(h, owned); err != nil {
		return err
	}
	return saver.Metadata(ctx, b, func(stored *v1alpha1.BMC) { stored.OwnerReferences = owned.OwnerReferences })
}

// own has a BMC go with its host.
func (r *reconciler) own(h *metal3.BareMetalHost, b *v1alpha1.BMC) error {
	if err := controllerutil.SetControllerReference(h, b, r.client.Scheme()); err != nil {
		return fmt.Errorf("own the BMC of host %q: %w", h.Name, err)
	}
	return nil
}
