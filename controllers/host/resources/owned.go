package resources

import (
	"context"
	"fmt"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/wire"
)

// The objects that belong to a host: its PreprovisioningImage and its HardwareData.

func metaOf(h *metal3.BareMetalHost) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Name}
}

// Image returns the host's PreprovisioningImage; nil for none.
func (s Store) Image(ctx context.Context, h *metal3.BareMetalHost) (*metal3.PreprovisioningImage, error) {
	image := &metal3.PreprovisioningImage{}
	err := s.Client.Get(ctx, client.ObjectKeyFromObject(h), image)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return image, nil
}

// AskImage creates the host's PreprovisioningImage or changes what it asks for.
func (s Store) AskImage(ctx context.Context, h *metal3.BareMetalHost, spec metal3.PreprovisioningImageSpec) (*metal3.PreprovisioningImage, error) {
	image := &metal3.PreprovisioningImage{ObjectMeta: metaOf(h)}
	_, err := controllerutil.CreateOrPatch(ctx, s.Client, image, func() error {
		image.Spec = spec
		nodespec.CopyLabels(h, image)
		return controllerutil.SetControllerReference(h, image, s.Client.Scheme())
	})
	if err != nil {
		return nil, fmt.Errorf("ask for PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return image, nil
}

// LabelImage gives the host's PreprovisioningImage the labels of the host, and returns
// it; nil when there is none.
func (s Store) LabelImage(ctx context.Context, h *metal3.BareMetalHost) (*metal3.PreprovisioningImage, error) {
	image, err := s.Image(ctx, h)
	if err != nil || image == nil {
		return nil, err
	}
	before := image.DeepCopy()
	if !nodespec.CopyLabels(h, image) {
		return image, nil
	}
	// What is noted about the status has to be about the one that is there.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, image, patch); err != nil {
		return nil, client.IgnoreNotFound(fmt.Errorf("label PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err))
	}
	return image, nil
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
// host's own finalizer is left to its writer.
func (s Store) Release(ctx context.Context, h *metal3.BareMetalHost) error {
	secretNames := []string{h.Spec.BMC.CredentialsName}
	for _, used := range []metal3.CredentialsStatus{h.Status.TriedCredentials, h.Status.GoodCredentials} {
		if used.Reference != nil && !slices.Contains(secretNames, used.Reference.Name) {
			secretNames = append(secretNames, used.Reference.Name)
		}
	}
	for _, name := range secretNames {
		if err := s.releaseSecret(ctx, h, name); err != nil {
			return err
		}
	}
	return s.releaseOwned(ctx, h)
}
