package resources

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
)

// The Secret of a host's BMC: read, marked as used, let go of.

// BMC reads a host's BMC credentials and address. What is wrong with them ends
// up in the result; the error is only for an API server that does not answer.
func (s Store) BMC(ctx context.Context, h *metal3.BareMetalHost) (nodespec.BMC, error) {
	details := h.Spec.BMC
	b := nodespec.BMC{Secret: details.CredentialsName}
	if h.DeletionTimestamp.IsZero() {
		if err := s.leaveFormer(ctx, h); err != nil {
			return b, err
		}
	}
	switch {
	case details.Address == "":
		b.Problem = "spec.bmc.address is empty: set it to the address of the machine's BMC"
		return b, nil
	case details.CredentialsName == "":
		b.Problem = "spec.bmc.credentialsName is empty: name a Secret with username and password"
		return b, nil
	}
	access, err := nodespec.AccessOf(h)
	if err != nil {
		b.Problem = "the BMC cannot be used: " + err.Error()
		return b, nil //nolint:nilerr // what is wrong with the address is shown on the host
	}
	b.Access = access
	secret, found, err := s.bmcSecret(ctx, h)
	if err != nil {
		return b, err
	}
	if !found {
		b.Problem = "the BMC's Secret " + strconv.Quote(details.CredentialsName) + " does not exist: create it with keys username and password"
		b.Missing = true
		return b, nil
	}
	b.Username = strings.TrimSpace(string(secret.Data["username"]))
	b.Password = strings.TrimSpace(string(secret.Data["password"]))
	if b.Username == "" || b.Password == "" {
		b.Problem = "the BMC's Secret " + strconv.Quote(secret.Name) + " needs the keys username and password, both not empty"
		return b, s.disown(ctx, h, secret)
	}
	if err := s.claim(ctx, h, secret); err != nil {
		return b, err
	}
	b.Content = contentDigest(secret, []string{b.Username, b.Password})
	b.Version = secret.ResourceVersion
	return b, nil
}

// bmcSecret reads the Secret of a host's BMC. One that the cache does not hold is
// marked by the request that reads it: the API server answers a patch with all that
// it has, and a patch of marks alone takes nothing from what is there.
func (s Store) bmcSecret(ctx context.Context, h *metal3.BareMetalHost) (secret *corev1.Secret, found bool, err error) {
	key := types.NamespacedName{Namespace: h.Namespace, Name: h.Spec.BMC.CredentialsName}
	if !h.DeletionTimestamp.IsZero() {
		return s.Secret(ctx, key)
	}
	secret = &corev1.Secret{}
	switch err = s.Client.Get(ctx, key, secret); {
	case err == nil:
		return secret, true, nil
	case !apierrors.IsNotFound(err):
		return nil, false, fmt.Errorf("read Secret %s: %w", key, err)
	}
	bare := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	secret = bare.DeepCopy()
	if err := s.mark(h, secret); err != nil {
		return nil, false, err
	}
	switch err = s.Client.Patch(ctx, secret, client.StrategicMergeFrom(bare)); {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case apierrors.IsInvalid(err): // it is being deleted, and takes no finalizer any more
		return s.Secret(ctx, key)
	case err != nil:
		return nil, false, fmt.Errorf("mark Secret %s: %w", key, err)
	}
	return secret, true, nil
}

// mark says on a BMC Secret that a host uses it: label, owner, finalizer.
func (s Store) mark(h *metal3.BareMetalHost, secret *corev1.Secret) error {
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[names.EnvironmentLabel] = names.EnvironmentValue
	if secret.DeletionTimestamp.IsZero() { // else no finalizer may be added
		controllerutil.AddFinalizer(secret, names.SecretFinalizer)
	}
	secret.OwnerReferences = slices.DeleteFunc(secret.OwnerReferences, func(r metav1.OwnerReference) bool { return namesake(r, h) })
	if err := controllerutil.SetOwnerReference(h, secret, s.Client.Scheme()); err != nil {
		return fmt.Errorf("own Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}

// namesake reports whether an owner is a host that had the name of this one. It is
// gone, and an object whose owners are all gone is taken away by Kubernetes.
func namesake(r metav1.OwnerReference, h *metal3.BareMetalHost) bool {
	return ofHost(r) && r.Name == h.Name && r.UID != h.UID
}

// ofHost reports whether an owner is a host.
func ofHost(r metav1.OwnerReference) bool {
	return r.Kind == "BareMetalHost" && strings.HasPrefix(r.APIVersion, metal3.GroupVersion.Group+"/")
}

// claim marks a BMC Secret as used by a host, if it does not say so yet.
func (s Store) claim(ctx context.Context, h *metal3.BareMetalHost, secret *corev1.Secret) error {
	owned := slices.ContainsFunc(secret.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == h.UID }) &&
		!slices.ContainsFunc(secret.OwnerReferences, func(r metav1.OwnerReference) bool { return namesake(r, h) })
	marked := secret.Labels[names.EnvironmentLabel] == names.EnvironmentValue &&
		(controllerutil.ContainsFinalizer(secret, names.SecretFinalizer) || !secret.DeletionTimestamp.IsZero())
	if !h.DeletionTimestamp.IsZero() || owned && marked {
		return nil
	}
	before := secret.DeepCopy()
	if err := s.mark(h, secret); err != nil {
		return err
	}
	if err := s.patch(ctx, before, secret); err != nil {
		return err
	}
	return nil
}

// releaseSecret takes the finalizer off a BMC Secret whose host is over. The host stays its
// owner: garbage collection takes the Secret with it, unless it has other owners.
func (s Store) releaseSecret(ctx context.Context, h *metal3.BareMetalHost, name string) error {
	return s.unmark(ctx, h, name, func(*corev1.Secret) {})
}

// disown takes a host's marks off a Secret that holds no credentials and never held any for
// the host. Whatever it is, such as one that the host names by mistake, it must not go with the host.
func (s Store) disown(ctx context.Context, h *metal3.BareMetalHost, secret *corev1.Secret) error {
	used := slices.ContainsFunc([]metal3.CredentialsStatus{h.Status.TriedCredentials, h.Status.GoodCredentials}, func(c metal3.CredentialsStatus) bool {
		return c.Reference != nil && c.Reference.Name == secret.Name
	})
	if used || !h.DeletionTimestamp.IsZero() || !slices.Contains(indexHeld(secret), string(h.UID)) {
		return nil
	}
	return s.LeaveSecret(ctx, h, secret.Name)
}

// bmcSecrets names the Secrets that a host has use for as its BMC's: that of its spec, the
// one that Ironic was told of last, and the one that was good.
func bmcSecrets(h *metal3.BareMetalHost) []string {
	list := []string{h.Spec.BMC.CredentialsName}
	for _, used := range []metal3.CredentialsStatus{h.Status.TriedCredentials, h.Status.GoodCredentials} {
		if used.Reference != nil && !slices.Contains(list, used.Reference.Name) {
			list = append(list, used.Reference.Name)
		}
	}
	return list
}

// leaveFormer takes a host's marks off Secrets that it named before, and has no use for.
// One that the cache does not show yet is found by a later pass, or at the host's end.
func (s Store) leaveFormer(ctx context.Context, h *metal3.BareMetalHost) error {
	if h.UID == "" {
		return nil // it owns nothing
	}
	var held corev1.SecretList
	err := s.Cache.List(ctx, &held, client.InNamespace(h.Namespace), client.MatchingFields{HeldIndex: string(h.UID)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("list the Secrets that host %s owns: %w", client.ObjectKeyFromObject(h), err)
	}
	used := bmcSecrets(h)
	for i := range held.Items {
		if name := held.Items[i].Name; !slices.Contains(used, name) {
			if err := s.LeaveSecret(ctx, h, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// HeldIndex indexes the Secrets of BMCs by the UIDs of the hosts that own them.
const HeldIndex = "ironflow.held"

// IndexHeld returns what a Secret is found by in [HeldIndex].
func IndexHeld(object client.Object) []string {
	secret, ok := object.(*corev1.Secret)
	if !ok {
		return nil
	}
	return indexHeld(secret)
}

func indexHeld(secret *corev1.Secret) (hosts []string) {
	if !controllerutil.ContainsFinalizer(secret, names.SecretFinalizer) {
		return nil // such as a copy that was made for the host
	}
	for _, owner := range secret.OwnerReferences {
		if ofHost(owner) {
			hosts = append(hosts, string(owner.UID))
		}
	}
	return hosts
}

// LeaveSecret takes a host's marks off a BMC Secret that the host does not use any more.
func (s Store) LeaveSecret(ctx context.Context, h *metal3.BareMetalHost, name string) error {
	return s.unmark(ctx, h, name, func(secret *corev1.Secret) {
		secret.OwnerReferences = slices.DeleteFunc(secret.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == h.UID })
	})
}

// unmark takes the finalizer off a BMC Secret, and what more there is to take off. The
// finalizer stays while another host uses it.
func (s Store) unmark(ctx context.Context, h *metal3.BareMetalHost, name string, more func(*corev1.Secret)) error {
	if name == "" {
		return nil
	}
	secret, found, err := s.Secret(ctx, types.NamespacedName{Namespace: h.Namespace, Name: name})
	if err != nil || !found {
		return err
	}
	before := secret.DeepCopy()
	more(secret)
	used, err := s.usedByOthers(ctx, h, secret)
	if err == nil && !used {
		used, err = s.namedByOthers(ctx, h, name)
	}
	if err != nil {
		return err
	}
	if !used {
		controllerutil.RemoveFinalizer(secret, names.SecretFinalizer)
	}
	return s.patch(ctx, before, secret)
}

// usedByOthers reports whether another host owns a Secret that is not on its way out.
// Owners that are over may still be named. They are read live: of two hosts that go at
// the same time, the later one sees that of the other.
func (s Store) usedByOthers(ctx context.Context, h *metal3.BareMetalHost, secret *corev1.Secret) (bool, error) {
	for _, owner := range secret.OwnerReferences {
		if !ofHost(owner) || owner.UID == h.UID {
			continue
		}
		other, key := &metal3.BareMetalHost{}, types.NamespacedName{Namespace: h.Namespace, Name: owner.Name}
		err := s.Live.Get(ctx, key, other)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("read host %s, an owner of Secret %s: %w", key, secret.Name, err)
		}
		if err == nil && other.UID == owner.UID && other.DeletionTimestamp.IsZero() {
			return true, nil
		}
	}
	return false, nil
}

// sameOwner compares owners.
func sameOwner(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

// patch writes the difference, if there is one.
func (s Store) patch(ctx context.Context, before, after *corev1.Secret) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if slices.Equal(before.Finalizers, after.Finalizers) && slices.EqualFunc(before.OwnerReferences, after.OwnerReferences, sameOwner) &&
		before.Labels[names.EnvironmentLabel] == after.Labels[names.EnvironmentLabel] {
		return nil
	}
	options := []client.PatchOption{}
	if after.Labels[names.EnvironmentLabel] != names.EnvironmentValue {
		// The cache will not show it: reads must not wait for that.
		options = append(options, client.DisableReadYourWritesConsistency)
	}
	if err := s.Client.Patch(ctx, after, patch, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("mark Secret %s: %w", client.ObjectKeyFromObject(before), err)
	}
	return nil
}
