package resources

import (
	"context"
	"fmt"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
)

// The Secret with the network data of a live image: held while hosts are there that name
// it, since an image without its Secret is revoked. It belongs to nobody here; a host does
// not become its owner.

// NamedIndex indexes hosts by the names of all Secrets that they refer to.
const NamedIndex = "ironflow.secrets"

// IndexNamed returns what a host is found by in [NamedIndex].
func IndexNamed(object client.Object) []string {
	h, ok := object.(*metal3.BareMetalHost)
	if !ok {
		return nil
	}
	list := SecretNames(h)
	if h.Spec.BMC.CredentialsName != "" {
		list = append(list, h.Spec.BMC.CredentialsName)
	}
	return list
}

// holdNetwork marks the Secret with a host's network data: the cache is to show it, and
// it stays until the host is released.
func (s Store) holdNetwork(ctx context.Context, h *metal3.BareMetalHost, secret *corev1.Secret) error {
	if !h.DeletionTimestamp.IsZero() || !secret.DeletionTimestamp.IsZero() {
		return nil
	}
	before := secret.DeepCopy()
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[names.EnvironmentLabel] = names.EnvironmentValue
	controllerutil.AddFinalizer(secret, names.SecretFinalizer)
	return s.patch(ctx, before, secret)
}

// releaseNetwork takes the finalizer off the Secret with a host's network data, whoever has
// put it on. It stays while another host uses the Secret, or this one for its BMC.
func (s Store) releaseNetwork(ctx context.Context, h *metal3.BareMetalHost, name string) error {
	if h.DeletionTimestamp.IsZero() && slices.Contains(bmcSecrets(h), name) {
		return nil
	}
	return s.releaseSecret(ctx, h, name)
}

// namedByOthers reports whether the spec of another host, which is not on its way out,
// names a Secret as one that is held: its BMC's, or that with its network data.
func (s Store) namedByOthers(ctx context.Context, h *metal3.BareMetalHost, name string) (bool, error) {
	var hosts metal3.BareMetalHostList
	// From the cache as it is: of two hosts that go at the same time, the later one sees
	// that of the other, and no write of another host is waited for.
	err := s.Cache.List(ctx, &hosts, client.InNamespace(h.Namespace), client.MatchingFields{NamedIndex: name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return false, fmt.Errorf("list the hosts that name Secret %s: %w", name, err)
	}
	return slices.ContainsFunc(hosts.Items, func(other metal3.BareMetalHost) bool {
		held := other.Spec.BMC.CredentialsName == name || other.Spec.PreprovisioningNetworkDataName == name
		return held && other.UID != h.UID && other.DeletionTimestamp.IsZero()
	}), nil
}
