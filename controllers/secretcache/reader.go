package secretcache

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// Reader reads Secrets wherever they are.
type Reader struct {
	// Client reads from the cache, and writes the label.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
}

// Get reads a Secret, from the cache if it is there. found is false when there is
// none at all.
func (r Reader) Get(ctx context.Context, key types.NamespacedName) (secret *corev1.Secret, found bool, err error) {
	secret = &corev1.Secret{}
	err = r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		err = r.Live.Get(ctx, key, secret)
	}
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read Secret %s: %w", key, err)
	}
	return secret, true, nil
}

// Mark labels a Secret, so that the cache holds it from now on.
func (r Reader) Mark(ctx context.Context, secret *corev1.Secret) error {
	if secret.Labels[names.EnvironmentLabel] == names.EnvironmentValue {
		return nil
	}
	before := secret.DeepCopy()
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[names.EnvironmentLabel] = names.EnvironmentValue
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, secret, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}
