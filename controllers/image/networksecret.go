package image

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// The Secret with the network data of an image. As the contract has it, the image owns it,
// so that both go together. One that was named by mistake must not go with the image: a
// Secret that holds no network data is not owned, and one of before is given back.

// ownedIndex indexes Secrets by the UIDs of the images that own them.
const ownedIndex = "ironflow.images"

func owningImages(secret client.Object) (uids []string) {
	for _, owner := range secret.GetOwnerReferences() {
		if owner.Kind == "PreprovisioningImage" && strings.HasPrefix(owner.APIVersion, metal3v1.GroupVersion.Group+"/") {
			uids = append(uids, string(owner.UID))
		}
	}
	return uids
}

// observeNetwork reads the network data of an image and returns the version of its Secret.
func (r *Reconciler) observeNetwork(ctx context.Context, in *Input) (version string, err error) {
	image := in.Image
	if err := r.leaveFormer(ctx, image); err != nil || image.Spec.NetworkDataName == "" {
		return "", err
	}
	secret, found, err := r.secret(ctx, types.NamespacedName{Namespace: image.Namespace, Name: image.Spec.NetworkDataName})
	if err != nil || !found {
		in.NetworkDataMissing = err == nil
		return "", err
	}
	in.NetworkData = secret.Data
	if last := image.Status.NetworkData; !secret.DeletionTimestamp.IsZero() && last.Name == secret.Name && last.Version != "" {
		// It is there for as long as hosts hold it. That somebody has deleted it is no other
		// content: an image that was built anew for that would be none for a while.
		return last.Version, nil
	}
	_, unfit := networkOf(*in)
	err = r.mark(ctx, secret, func(secret *corev1.Secret) error {
		metav1.SetMetaDataLabel(&secret.ObjectMeta, names.EnvironmentLabel, names.EnvironmentValue)
		if unfit != nil {
			disown(secret, image)
			return nil //nolint:nilerr // that it cannot be used is said on the image, and is no failure to mark it
		}
		return controllerutil.SetOwnerReference(image, secret, r.Client.Scheme())
	})
	return secret.ResourceVersion, err
}

// leaveFormer gives back the Secrets that an image named before.
func (r *Reconciler) leaveFormer(ctx context.Context, image *metal3v1.PreprovisioningImage) error {
	var owned corev1.SecretList
	err := r.cached.List(ctx, &owned, client.InNamespace(image.Namespace), client.MatchingFields{ownedIndex: string(image.UID)})
	if err != nil {
		return fmt.Errorf("list the Secrets that the image owns: %w", err)
	}
	for i := range owned.Items {
		secret := &owned.Items[i]
		if secret.Name == image.Spec.NetworkDataName {
			continue
		}
		err := r.mark(ctx, secret, func(secret *corev1.Secret) error {
			disown(secret, image)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// disown takes an image out of the owners of a Secret.
func disown(secret *corev1.Secret, image *metal3v1.PreprovisioningImage) {
	secret.OwnerReferences = slices.DeleteFunc(secret.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == image.UID })
}

// mark changes the metadata of a Secret, if there is something to change. The Secret then
// has the version that the image's status is to name.
func (r *Reconciler) mark(ctx context.Context, secret *corev1.Secret, change func(*corev1.Secret) error) error {
	before := secret.DeepCopy()
	if err := change(secret); err != nil {
		return fmt.Errorf("own Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	if equality.Semantic.DeepEqual(before, secret) {
		return nil
	}
	err := r.Client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if reconcile.IsConflict(err) {
		return reconcile.WaitFor(nextPass, "a fresh copy of Secret %s", before.Name)
	}
	if err != nil {
		return fmt.Errorf("mark Secret %s: %w", client.ObjectKeyFromObject(before), err)
	}
	return nil
}
