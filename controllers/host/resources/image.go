package resources

import (
	"context"
	"fmt"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
)

// The request for a host's live image. The host holds it by a finalizer until the host is
// released: whoever deletes a namespace, or a host with its dependents first, deletes the
// image while the machine is still to be cleaned by it. An image from before, of a fleet that
// was taken over, gets that finalizer when it is written to for another reason; until then the
// image controller waits for the host that controls it.

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

// AskImage creates the host's PreprovisioningImage or changes what it asks for. One that
// somebody has deleted is changed no more: it is let go of, and made anew once it is gone.
func (s Store) AskImage(ctx context.Context, h *metal3.BareMetalHost, spec metal3.PreprovisioningImageSpec) (*metal3.PreprovisioningImage, error) {
	image, err := s.Image(ctx, h)
	if err != nil {
		return nil, err
	}
	if image != nil && image.Spec.NetworkDataName != spec.NetworkDataName {
		if err := s.releaseNetwork(ctx, h, image.Spec.NetworkDataName); err != nil { // while the image still names it
			return nil, err
		}
	}
	if image != nil && !image.DeletionTimestamp.IsZero() {
		return image, s.letGo(ctx, h, image)
	}
	wanted := &metal3.PreprovisioningImage{ObjectMeta: metaOf(h)}
	if image != nil {
		wanted = image.DeepCopy()
	}
	wanted.Spec = spec
	nodespec.CopyLabels(h, wanted)
	controllerutil.AddFinalizer(wanted, names.HostImageFinalizer)
	if err = controllerutil.SetControllerReference(h, wanted, s.Client.Scheme()); err == nil {
		err = s.writeImage(ctx, image, wanted)
	}
	if err != nil {
		return nil, fmt.Errorf("ask for PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return wanted, nil
}

// letGo gives an image up that somebody has deleted: nothing of the host holds it any more.
func (s Store) letGo(ctx context.Context, h *metal3.BareMetalHost, image *metal3.PreprovisioningImage) error {
	before := image.DeepCopy()
	controllerutil.RemoveFinalizer(image, names.HostImageFinalizer)
	image.OwnerReferences = slices.DeleteFunc(image.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == h.UID })
	if err := s.writeImage(ctx, before, image); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("let go of PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err)
	}
	return nil
}

// writeImage creates an image, or changes the one of before if there is something to change.
// Its list of finalizers is written as a whole, and what is noted about the status has to be
// about the one that is there: a copy that is too old is refused.
func (s Store) writeImage(ctx context.Context, before, image *metal3.PreprovisioningImage) error {
	if before == nil {
		return s.Client.Create(ctx, image)
	}
	if equality.Semantic.DeepEqual(before, image) {
		return nil
	}
	return s.Client.Patch(ctx, image, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// LabelImage gives the host's PreprovisioningImage the labels of the host, and holds it. It
// returns the image; nil when there is none.
func (s Store) LabelImage(ctx context.Context, h *metal3.BareMetalHost) (*metal3.PreprovisioningImage, error) {
	before, err := s.Image(ctx, h)
	if err != nil || before == nil {
		return nil, err
	}
	image := before.DeepCopy()
	nodespec.CopyLabels(h, image)
	if image.DeletionTimestamp.IsZero() { // else no finalizer may be added
		controllerutil.AddFinalizer(image, names.HostImageFinalizer)
	}
	if err := s.writeImage(ctx, before, image); err != nil {
		return nil, client.IgnoreNotFound(fmt.Errorf("label PreprovisioningImage %s: %w", client.ObjectKeyFromObject(h), err))
	}
	return image, nil
}

// JudgeImage reads a PreprovisioningImage, nil for none, against what the host asks
// for. fallbackKernel is used for an initrd without a kernel.
func (s Store) JudgeImage(ctx context.Context, h *metal3.BareMetalHost, image *metal3.PreprovisioningImage, want metal3.PreprovisioningImageSpec, fallbackKernel string) (nodespec.LiveImage, error) {
	version := ""
	if want.NetworkDataName != "" {
		secret, found, err := s.Secret(ctx, types.NamespacedName{Namespace: h.Namespace, Name: want.NetworkDataName})
		if err != nil {
			return nodespec.LiveImage{}, err
		}
		if found {
			if image == nil || image.Spec.NetworkDataName == secret.Name { // else it is not known later what to let go of
				if err := s.holdNetwork(ctx, h, secret); err != nil {
					return nodespec.LiveImage{}, err
				}
			}
			version = secret.ResourceVersion
			if image != nil && !secret.DeletionTimestamp.IsZero() {
				version = image.Status.NetworkData.Version // that is no other content
			}
		}
	}
	live := nodespec.ReadImage(h, image, want, version, fallbackKernel)
	if image == nil {
		return live, nil
	}
	live.Unlike = nodespec.CopyLabels(h, image.DeepCopy())
	if !image.DeletionTimestamp.IsZero() && h.DeletionTimestamp.IsZero() && live.Unlike { // it does not change any more
		live = nodespec.LiveImage{Note: "the PreprovisioningImage is being deleted"}
	}
	return live, nil
}
