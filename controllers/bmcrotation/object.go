package bmcrotation

import (
	"context"
	"fmt"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials"
)

// object is the Secret with a record of one host, for one pass. It is read from the API
// server: a copy of the cache may be older than our own writes. It has the label of
// Secrets that the cache holds, so that a host without one costs no request.
type object struct {
	client kclient.Client
	live   kclient.Reader
	host   *metal3.BareMetalHost
	key    types.NamespacedName
	// held is what was read or written last; nil for none.
	held *corev1.Secret
}

// read reads the data and the version; both are empty if there is none.
func (s *object) read(ctx context.Context) (data map[string][]byte, version string, err error) {
	read := &corev1.Secret{}
	switch err := s.live.Get(ctx, s.key, read); {
	case apierrors.IsNotFound(err):
		s.held = nil
		return nil, "", nil
	case err != nil:
		return nil, "", err
	}
	s.held = read
	return read.Data, read.ResourceVersion, nil
}

// write replaces all data if the object has that version still, and makes it if the
// version is empty. Prepare says whose it is.
func (s *object) write(ctx context.Context, version string, data map[string][]byte, prepare func(*corev1.Secret) error) (string, error) {
	after := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.key.Namespace, Name: s.key.Name, Labels: map[string]string{names.EnvironmentLabel: names.EnvironmentValue},
	}}
	save := func() error { return s.client.Create(ctx, after) }
	if version != "" {
		if s.held == nil || s.held.ResourceVersion != version {
			return "", fmt.Errorf("the record is not the one that was read: %w", credentials.ErrConflict)
		}
		after = s.held.DeepCopy()
		save = func() error { return s.client.Update(ctx, after) }
	}
	after.Data = data
	if err := prepare(after); err != nil {
		return "", err
	}
	if version != "" && apiequality.Semantic.DeepEqual(after, s.held) {
		return version, nil
	}
	if err := conflict(save()); err != nil {
		return "", err
	}
	s.held = after
	return after.ResourceVersion, nil
}

// own has a record go with its host, or outlive it. A host of the same name that was
// deleted counts no more than none.
func (s *object) own(record *corev1.Secret, alone bool) error {
	record.OwnerReferences = slices.DeleteFunc(slices.Clone(record.OwnerReferences), func(o metav1.OwnerReference) bool { return o.Kind == "BareMetalHost" })
	if alone || s.host.UID == "" {
		return nil
	}
	if err := controllerutil.SetControllerReference(s.host, record, s.client.Scheme()); err != nil {
		return fmt.Errorf("own the record of host %q: %w", s.host.Name, err)
	}
	return nil
}

// conflict makes of a write that came too late what the rotation knows.
func conflict(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: %w", credentials.ErrConflict, err)
	}
	return err
}
