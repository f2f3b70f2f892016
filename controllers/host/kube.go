package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/controllers/host/nodespec"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/wire"
)

// objects reads and writes the objects that belong to a host.
type objects struct {
	client client.Client
}

func metaOf(h *metal3.BareMetalHost) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Name}
}

// image returns the host's PreprovisioningImage; nil for none.
func (k objects) image(ctx context.Context, h *metal3.BareMetalHost) (*metal3.PreprovisioningImage, error) {
	image := &metal3.PreprovisioningImage{}
	err := k.client.Get(ctx, client.ObjectKeyFromObject(h), image)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return image, nil
}

// askImage creates the host's PreprovisioningImage or changes what it asks for.
func (k objects) askImage(ctx context.Context, h *metal3.BareMetalHost, spec metal3.PreprovisioningImageSpec) (*metal3.PreprovisioningImage, error) {
	image := &metal3.PreprovisioningImage{ObjectMeta: metaOf(h)}
	_, err := controllerutil.CreateOrPatch(ctx, k.client, image, func() error {
		image.Spec = spec
		nodespec.CopyLabels(h, image)
		return controllerutil.SetControllerReference(h, image, k.client.Scheme())
	})
	if err != nil {
		return nil, fmt.Errorf("ask for PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return image, nil
}

// labelImage gives the host's PreprovisioningImage the labels of the host.
func (k objects) labelImage(ctx context.Context, h *metal3.BareMetalHost) error {
	image, err := k.image(ctx, h)
	if err != nil || image == nil {
		return err
	}
	before := image.DeepCopy()
	if !nodespec.CopyLabels(h, image) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := k.client.Patch(ctx, image, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return nil
}

// hardware returns what HardwareData holds; nil for none.
func (k objects) hardware(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HardwareDetails, error) {
	data := &metal3.HardwareData{}
	err := k.client.Get(ctx, client.ObjectKeyFromObject(h), data)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read HardwareData %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return data.Spec.HardwareDetails, nil
}

// saveHardware writes HardwareData, in place.
func (k objects) saveHardware(ctx context.Context, h *metal3.BareMetalHost, details *metal3.HardwareDetails) error {
	data := &metal3.HardwareData{ObjectMeta: metaOf(h)}
	ctx = wire.Brief(ctx, metal3.GroupVersion.WithKind("HardwareData"))
	_, err := controllerutil.CreateOrPatch(ctx, k.client, data, func() error {
		data.Spec.HardwareDetails = details.DeepCopy()
		controllerutil.AddFinalizer(data, names.HardwareFinalizer)
		return controllerutil.SetControllerReference(h, data, k.client.Scheme())
	})
	if err != nil {
		return fmt.Errorf("save HardwareData %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return nil
}

// releaseOwned drops the finalizers that hold the host's own objects, which
// garbage collection then removes.
func (k objects) releaseOwned(ctx context.Context, h *metal3.BareMetalHost) error {
	data := &metal3.HardwareData{ObjectMeta: metaOf(h)}
	if err := k.dropFinalizer(ctx, data, names.HardwareFinalizer); err != nil {
		return err
	}
	return k.dropFinalizer(ctx, &metal3.PreprovisioningImage{ObjectMeta: metaOf(h)}, names.HostImageFinalizer)
}

func (k objects) dropFinalizer(ctx context.Context, obj client.Object, finalizer string) error {
	key := client.ObjectKeyFromObject(obj)
	if err := k.client.Get(ctx, key, obj); err != nil {
		return client.IgnoreNotFound(err)
	}
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok || !controllerutil.RemoveFinalizer(obj, finalizer) {
		return nil
	}
	if err := k.client.Patch(ctx, obj, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("release %T %s: %w", obj, key, err)
	}
	return nil
}

// release drops every hold on a host's objects, its own finalizer last.
func (p *pass) release(ctx context.Context) error {
	h := p.o.Host
	secretNames := []string{h.Spec.BMC.CredentialsName}
	for _, used := range []metal3.CredentialsStatus{h.Status.TriedCredentials, h.Status.GoodCredentials} {
		if used.Reference != nil && !slices.Contains(secretNames, used.Reference.Name) {
			secretNames = append(secretNames, used.Reference.Name)
		}
	}
	for _, name := range secretNames {
		if err := p.secrets.release(ctx, h, name); err != nil {
			return err
		}
	}
	if err := p.objects.releaseOwned(ctx, h); err != nil {
		return err
	}
	err := p.saver.Metadata(ctx, h, func(h *metal3.BareMetalHost) { controllerutil.RemoveFinalizer(h, names.HostFinalizer) })
	p.gone = client.IgnoreNotFound(err) == nil
	return client.IgnoreNotFound(err)
}
