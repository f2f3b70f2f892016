package image

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/secretcache"
)

// secret reads a Secret, and reports whether it exists; without it an empty one.
// Those of hosts and InfraEnvs are marked for the cache by their controllers.
func (r *Reconciler) secret(ctx context.Context, key types.NamespacedName) (*corev1.Secret, bool, error) {
	reader := secretcache.Reader{Client: r.Client, Live: r.live}
	secret, found, err := reader.Get(ctx, key)
	if secret == nil {
		secret = &corev1.Secret{}
	}
	return secret, found, err
}
