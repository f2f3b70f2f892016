package resources

import (
	"context"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/wire"
)

// What belongs to a host: its HardwareData, and what it lets go of at its end.

func metaOf(h *metal3.BareMetalHost) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Name}
}

// Hardware returns what HardwareData holds; nil for none.
func (s Store) Hardware(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HardwareDetails, error) {
	data := &metal3.HardwareData{}
	err := s.Client.Get(ctx, client.ObjectKeyFromObject(h), data)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read HardwareData %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return data.Spec.HardwareDetails, nil
}

// SaveHardware writes HardwareData, in place.
func (s Store) SaveHardware(ctx context.Context, h *metal3.BareMetalHost, details *metal3.HardwareDetails) error {
	data := &metal3.HardwareData{ObjectMeta: metaOf(h)}
	ctx = wire.Brief(ctx, metal3.GroupVersion.WithKind("HardwareData"))
	_, err := controllerutil.CreateOrPatch(ctx, s.Client, data, func() error {
		data.Spec.HardwareDetails = details.DeepCopy()
		controllerutil.AddFinalizer(data, names.HardwareFinalizer)
		return controllerutil.SetControllerReference(h, data, s.Client.Scheme())
	})
	if err != nil {
		return fmt.Errorf("save HardwareData %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return nil
}

// releaseOwned drops the finalizers that hold the host's own objects, which
// garbage collection then removes.
func (s Store) releaseOwned(ctx context.Context, h *metal3.BareMetalHost) error {
	data := &metal3.HardwareData{ObjectMeta: metaOf(h)}
	if err := s.dropFinalizer(ctx, data, names.HardwareFinalizer); err != nil {
		return err
	}
	return s.dropFinalizer(ctx, &metal3.PreprovisioningImage{ObjectMeta: metaOf(h)}, names.HostImageFinalizer)
}

func (s Store) dropFinalizer(ctx context.Context, obj client.Object, finalizer string) error {
	key := client.ObjectKeyFromObject(obj)
	if err := s.Client.Get(ctx, key, obj); err != nil {
		return client.IgnoreNotFound(err)
	}
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok || !controllerutil.RemoveFinalizer(obj, finalizer) {
		return nil
	}
	// The list is written as a whole: from an old copy it would bring finalizers of others back.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, obj, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("release %T %s: %w", obj, key, err)
	}
	return nil
}

// Release drops every hold on what belongs to a host: its Secrets, its objects. The
// host's own finalizer is left to its writer. A Secret that the host does not name any
// more does not go with it.
func (s Store) Release(ctx context.Context, h *metal3.BareMetalHost) error {
	if err := s.leaveFormer(ctx, h); err != nil {
		return err
	}
	for _, name := range bmcSecrets(h) {
		if err := s.releaseSecret(ctx, h, name); err != nil {
			return err
		}
	}
	if err := s.releaseNetwork(ctx, h, h.Spec.PreprovisioningNetworkDataName); err != nil {
		return err
	}
	// A host at rest asks for no other image when it names another Secret: the one before is still held.
	image, err := s.Image(ctx, h)
	if err != nil {
		return err
	}
	if image != nil {
		if err := s.releaseNetwork(ctx, h, image.Spec.NetworkDataName); err != nil {
			return err
		}
	}
	return s.releaseOwned(ctx, h)
}
