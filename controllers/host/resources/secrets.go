package resources

import (
	"context"
	"slices"
	"strconv"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// The Secrets that hosts refer to. The cache holds only labelled ones; others are read
// live once, then labelled.

// reader reads Secrets and labels them.
func (s Store) reader() secretcache.Reader {
	return secretcache.Reader{Client: s.Client, Live: s.Live}
}

// Secret reads a Secret, from the cache if it is there. found is false when there is none.
func (s Store) Secret(ctx context.Context, key types.NamespacedName) (secret *corev1.Secret, found bool, err error) {
	return s.reader().Get(ctx, key)
}

// Value reads one key of a Secret that a host refers to, or its key "value".
// found is false when the Secret is there and has neither.
func (s Store) Value(ctx context.Context, h *metal3.BareMetalHost, name, key string) (raw []byte, found bool, problem string, err error) {
	secret, there, err := s.Secret(ctx, types.NamespacedName{Namespace: h.Namespace, Name: name})
	if err != nil {
		return nil, false, "", err
	}
	if !there {
		return nil, false, "the Secret " + strconv.Quote(name) + " with the " + key + " does not exist", nil
	}
	for _, k := range []string{key, "value"} {
		if raw, found := secret.Data[k]; found {
			return raw, true, "", s.label(ctx, secret)
		}
	}
	return nil, false, "", s.label(ctx, secret)
}

// label makes the cache see a Secret, so that a change of it wakes the host.
func (s Store) label(ctx context.Context, secret *corev1.Secret) error {
	return s.reader().Mark(ctx, secret)
}

// ConfigDrive reads everything that an instance is given.
func (s Store) ConfigDrive(ctx context.Context, h *metal3.BareMetalHost) (*nodespec.ConfigDrive, error) {
	c := &nodespec.ConfigDrive{}
	read := func(ref *corev1.SecretReference, key string, optional bool) ([]byte, error) {
		if ref == nil || ref.Name == "" || c.Problem != "" {
			return nil, nil
		}
		if ref.Namespace != "" && ref.Namespace != h.Namespace {
			c.Problem = "the Secret " + strconv.Quote(ref.Name) + " with the " + key + " is said to be in namespace " + strconv.Quote(ref.Namespace) +
				": it must be in the host's own, " + strconv.Quote(h.Namespace)
			return nil, nil
		}
		raw, found, problem, err := s.Value(ctx, h, ref.Name, key)
		if problem == "" && !found && !optional {
			problem = "the Secret " + strconv.Quote(ref.Name) + " has neither the key " + key + " nor value"
		}
		c.Problem = problem
		return raw, err
	}
	var err error
	if c.UserData, err = read(h.Spec.UserData, "userData", false); err != nil {
		return nil, err
	}
	network := h.Spec.NetworkData
	if network == nil && h.Spec.PreprovisioningNetworkDataName != "" {
		network = &corev1.SecretReference{Name: h.Spec.PreprovisioningNetworkDataName}
	}
	rawNetwork, err := read(network, "networkData", true)
	if err != nil {
		return nil, err
	}
	rawMeta, err := read(h.Spec.MetaData, "metaData", false)
	if err != nil {
		return nil, err
	}
	c.Complete(h, rawNetwork, rawMeta)
	return c, nil
}

// PullSecret reads the credentials for a host's image. What is wrong with them
// ends up in the result; the error is only for an API server that does not answer.
func (s Store) PullSecret(ctx context.Context, h *metal3.BareMetalHost) (*nodespec.PullSecret, error) {
	name := nodespec.PullSecretName(h.Spec.Image)
	secret, found, err := s.Secret(ctx, types.NamespacedName{Namespace: h.Namespace, Name: name})
	if err != nil {
		return nil, err
	}
	if !found {
		return &nodespec.PullSecret{Problem: "the image pull Secret " + strconv.Quote(name) + " does not exist"}, nil
	}
	if err := s.label(ctx, secret); err != nil {
		return nil, err
	}
	return nodespec.ReadPullSecret(secret, h.Spec.Image.URL), nil
}

// SecretNames names the Secrets of a host besides the BMC's.
func SecretNames(h *metal3.BareMetalHost) []string {
	list := []string{h.Spec.PreprovisioningNetworkDataName}
	for _, ref := range []*corev1.SecretReference{h.Spec.UserData, h.Spec.NetworkData, h.Spec.MetaData} {
		if ref != nil {
			list = append(list, ref.Name)
		}
	}
	if h.Spec.Image != nil && h.Spec.Image.OCIAuthSecretName != nil {
		list = append(list, *h.Spec.Image.OCIAuthSecretName)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}
