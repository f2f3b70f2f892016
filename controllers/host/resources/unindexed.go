package resources

import (
	"context"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Unindexed reads from where nobody keeps the indexes of this package, such as an API server:
// it looks through all objects of a kind for what is asked of an index.
type Unindexed struct{ client.Reader }

// List implements client.Reader.
func (u Unindexed) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	if o.FieldSelector == nil {
		return u.Reader.List(ctx, into, opts...)
	}
	fields := o.FieldSelector
	o.FieldSelector = nil
	if err := u.Reader.List(ctx, into, &o); err != nil {
		return err
	}
	switch list := into.(type) {
	case *corev1.SecretList:
		if uid, is := fields.RequiresExactMatch(HeldIndex); is {
			list.Items = slices.DeleteFunc(list.Items, func(s corev1.Secret) bool { return !slices.Contains(IndexHeld(&s), uid) })
		}
	case *metal3.BareMetalHostList:
		if name, is := fields.RequiresExactMatch(NamedIndex); is {
			list.Items = slices.DeleteFunc(list.Items, func(h metal3.BareMetalHost) bool { return !slices.Contains(IndexNamed(&h), name) })
		}
	}
	return nil
}
