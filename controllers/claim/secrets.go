package claim

import (
	"context"
	"fmt"
	"maps"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// Secrets are those that a claim refers to, as its host is to be given them: a
// host reads Secrets of its own namespace only, so they are copied there.
type Secrets struct {
	// UserData, NetworkData and MetaData are what the host's spec shall refer to.
	UserData, NetworkData, MetaData *corev1.SecretReference
	// Pull is the name of the Secret for the image's registry, empty for none.
	Pull string
	// Problem is why they cannot be handed over; nil for nothing.
	Problem *Condition
	// Stale tells that a copy is missing or differs.
	Stale bool
	// Copied tells that there are copies.
	Copied bool

	copies []*corev1.Secret
}

// claimLabel marks copies with the claim that they belong to.
const claimLabel = "ironflow.io/hostclaim"

// kindOfSecret is one reference of a claim.
type kindOfSecret struct {
	part   string // of the copy's name
	reason string // when it cannot be handed over
	of     func(*metal3.HostClaim) *corev1.SecretReference
	put    func(*Secrets, *corev1.SecretReference)
}

// kindsOfSecrets lists everything that a claim refers to.
var kindsOfSecrets = []kindOfSecret{
	{
		"user-data", metal3.BadUserDataSecretReason,
		func(c *metal3.HostClaim) *corev1.SecretReference { return c.Spec.UserData },
		func(s *Secrets, r *corev1.SecretReference) { s.UserData = r },
	},
	{
		"network-data", metal3.BadNetworkDataSecretReason,
		func(c *metal3.HostClaim) *corev1.SecretReference { return c.Spec.NetworkData },
		func(s *Secrets, r *corev1.SecretReference) { s.NetworkData = r },
	},
	{
		"meta-data", metal3.BadMetaDataSecretReason,
		func(c *metal3.HostClaim) *corev1.SecretReference { return c.Spec.MetaData },
		func(s *Secrets, r *corev1.SecretReference) { s.MetaData = r },
	},
	{
		"pull", metal3.BareMetalHostNotSynchronizedReason,
		func(c *metal3.HostClaim) *corev1.SecretReference {
			if c.Spec.Image == nil || c.Spec.Image.OCIAuthSecretName == nil || *c.Spec.Image.OCIAuthSecretName == "" {
				return nil
			}
			return &corev1.SecretReference{Name: *c.Spec.Image.OCIAuthSecretName}
		},
		func(s *Secrets, r *corev1.SecretReference) { s.Pull = r.Name },
	},
}

// secrets reads what the claim refers to and compares it with the copies.
func (r *Reconciler) secrets(ctx context.Context, c *metal3.HostClaim, h *metal3.BareMetalHost) (Secrets, error) {
	var s Secrets
	for _, kind := range kindsOfSecrets {
		ref := kind.of(c)
		name := copyName(c, kind.part)
		if c.Namespace != h.Namespace {
			held, err := r.copy(ctx, h.Namespace, name, c)
			if err != nil {
				return s, err
			}
			s.Copied = s.Copied || held != nil
			if err := s.compare(ctx, r, c, h, kind, ref, held); err != nil {
				return s, err
			}
			continue
		}
		if ref == nil {
			continue
		}
		if _, problem, err := r.source(ctx, c, kind, ref); err != nil || problem != nil {
			s.Problem = problem
			return s, err
		}
		kind.put(&s, &corev1.SecretReference{Name: ref.Name, Namespace: h.Namespace})
	}
	return s, nil
}

// compare finds out what a copy has to become.
func (s *Secrets) compare(ctx context.Context, r *Reconciler, c *metal3.HostClaim, h *metal3.BareMetalHost,
	kind kindOfSecret, ref *corev1.SecretReference, held *corev1.Secret,
) error {
	if ref == nil || !c.DeletionTimestamp.IsZero() {
		return nil // a copy too many goes with the claim
	}
	source, problem, err := r.source(ctx, c, kind, ref)
	if err != nil || problem != nil {
		s.Problem = problem
		return err
	}
	want := copyOf(source, h, c, copyName(c, kind.part))
	s.copies = append(s.copies, want)
	s.Stale = s.Stale || held == nil || !equality.Semantic.DeepEqual(held.Data, want.Data) || held.Type != want.Type
	kind.put(s, &corev1.SecretReference{Name: want.Name, Namespace: h.Namespace})
	return nil
}

// source reads a Secret of the claim. Only the claim's own namespace is read:
// who writes a claim need not be allowed to read others.
func (r *Reconciler) source(ctx context.Context, c *metal3.HostClaim, kind kindOfSecret, ref *corev1.SecretReference) (*corev1.Secret, *Condition, error) {
	if ref.Namespace != "" && ref.Namespace != c.Namespace {
		return nil, &Condition{Reason: kind.reason, Message: fmt.Sprintf("Secret %s/%s must be in the claim's namespace", ref.Namespace, ref.Name)}, nil
	}
	secret, err := r.secret(ctx, types.NamespacedName{Namespace: c.Namespace, Name: ref.Name})
	if err != nil {
		return nil, nil, err
	}
	if secret == nil {
		return nil, &Condition{Reason: kind.reason, Message: fmt.Sprintf("Secret %s/%s does not exist: create it", c.Namespace, ref.Name)}, nil
	}
	return secret, nil, nil
}

// secret reads a Secret, from the cache if it is there; nil when there is none.
func (r *Reconciler) secret(ctx context.Context, key types.NamespacedName) (*corev1.Secret, error) {
	secret, _, err := r.reader().Get(ctx, key)
	return secret, err
}

func (r *Reconciler) reader() secretcache.Reader {
	return secretcache.Reader{Client: r.Client, Live: r.live}
}

// copy reads a copy of the claim's; nil when there is none. A Secret of somebody
// else that has its name is left alone.
func (r *Reconciler) copy(ctx context.Context, namespace, name string, c *metal3.HostClaim) (*corev1.Secret, error) {
	secret, err := r.secret(ctx, types.NamespacedName{Namespace: namespace, Name: name})
	if err != nil || secret == nil || secret.Labels[claimLabel] != string(c.UID) {
		return nil, err
	}
	return secret, nil
}

// copyName is the name of a copy in the host's namespace. It holds the claim's
// UID, so that two claims never meet.
func copyName(c *metal3.HostClaim, part string) string {
	return "hostclaim-" + string(c.UID) + "-" + part
}

// copyOf is what a copy shall be. It goes with the host, should the host go first.
func copyOf(source *corev1.Secret, h *metal3.BareMetalHost, c *metal3.HostClaim, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.Namespace, Name: name,
			Labels: map[string]string{claimLabel: string(c.UID), names.EnvironmentLabel: names.EnvironmentValue},
		},
		Type: source.Type, Data: maps.Clone(source.Data),
	}
}

// handOver writes the copies.
func (r *Reconciler) handOver(ctx context.Context, h *metal3.BareMetalHost, s Secrets) error {
	for _, want := range s.copies {
		have := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: want.Namespace, Name: want.Name}}
		if err := r.makeWay(ctx, want); err != nil {
			return err
		}
		_, err := controllerutil.CreateOrPatch(ctx, r.Client, have, func() error {
			have.Labels, have.Data = want.Labels, want.Data
			if have.ResourceVersion == "" {
				have.Type = want.Type
			}
			return controllerutil.SetOwnerReference(h, have, r.Client.Scheme())
		})
		if err != nil {
			return fmt.Errorf("copy Secret %s/%s for host %s: %w", want.Namespace, want.Name, h.Name, err)
		}
	}
	return nil
}

// makeWay deletes a copy of another type, which cannot be changed, and has the
// cache see one whose label was taken off.
func (r *Reconciler) makeWay(ctx context.Context, want *corev1.Secret) error {
	held, err := r.secret(ctx, client.ObjectKeyFromObject(want))
	if err != nil || held == nil {
		return err
	}
	if err := r.reader().Mark(ctx, held); err != nil || held.Type == want.Type {
		return err
	}
	if err := client.IgnoreNotFound(r.Client.Delete(ctx, held)); err != nil {
		return fmt.Errorf("replace Secret %s: %w", client.ObjectKeyFromObject(want), err)
	}
	return nil
}

// withdraw deletes the copies.
func (r *Reconciler) withdraw(ctx context.Context, c *metal3.HostClaim, h *metal3.BareMetalHost) error {
	for _, kind := range kindsOfSecrets {
		held, err := r.copy(ctx, h.Namespace, copyName(c, kind.part), c)
		if err != nil {
			return err
		}
		if held == nil {
			continue
		}
		if err := r.reader().Mark(ctx, held); err != nil {
			return err // only what the cache shows is seen to go
		}
		if err := client.IgnoreNotFound(r.Client.Delete(ctx, held)); err != nil {
			return fmt.Errorf("delete Secret %s/%s: %w", held.Namespace, held.Name, err)
		}
	}
	return nil
}
