package resources

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The content of Secrets by a digest, which marks on them leave as it is.

// contentDigest names a part of a Secret's content. Its key is the Secret's own UID: a
// digest stands in the status of hosts, where passwords could be guessed by it otherwise.
// Who may read the UID may read the password as well.
func contentDigest(secret *corev1.Secret, part any) string {
	raw, err := json.Marshal(part) // JSON sorts the keys
	sum := hmac.New(sha256.New, []byte(secret.UID))
	fmt.Fprintln(sum, string(raw), err)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Contents are digests of the Secrets that a host refers to besides the BMC's, by name.
// Those that do not exist are left out.
func (s Store) Contents(ctx context.Context, h *metal3.BareMetalHost) (map[string]string, error) {
	digests := map[string]string{}
	for _, name := range SecretNames(h) {
		secret, found, err := s.Secret(ctx, types.NamespacedName{Namespace: h.Namespace, Name: name})
		if err != nil {
			return nil, fmt.Errorf("read Secret %s/%s: %w", h.Namespace, name, err)
		}
		if found {
			digests[name] = contentDigest(secret, secret.Data)
		}
	}
	return digests, nil
}
