package bmcrotation

import (
	"context"
	"encoding/json"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// store has the Secrets of one host for one pass. It implements [credentials.Store].
// It reads from the API server: a copy of the cache may be older than our own writes.
type store struct {
	client kclient.Client
	live   kclient.Reader
	host   *metal3.BareMetalHost
	// record is the object that was read or written last.
	record *corev1.Secret
}

var _ credentials.Store = (*store)(nil)

// recordKey is where the record of a host is.
func recordKey(h *metal3.BareMetalHost) types.NamespacedName {
	return types.NamespacedName{Namespace: h.Namespace, Name: rotation.RecordName(h.Name)}
}

// Record implements [credentials.Records].
func (s *store) Record(ctx context.Context) (map[string][]byte, string, error) {
	read := &corev1.Secret{}
	switch err := s.live.Get(ctx, recordKey(s.host), read); {
	case apierrors.IsNotFound(err):
		s.record = nil
		return nil, "", nil
	case err != nil:
		return nil, "", err
	}
	s.record = read
	return read.Data, read.ResourceVersion, nil
}

// WriteRecord implements [credentials.Records]. The record has the label of Secrets
// that the cache holds, so that a host without one costs no request.
func (s *store) WriteRecord(ctx context.Context, version string, data map[string][]byte) (string, error) {
	if version == "" {
		made := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: s.host.Namespace, Name: recordKey(s.host).Name, Labels: map[string]string{names.EnvironmentLabel: names.EnvironmentValue},
			},
			Data: data,
		}
		if err := controllerutil.SetControllerReference(s.host, made, s.client.Scheme()); err != nil {
			return "", fmt.Errorf("own the record of host %q: %w", s.host.Name, err)
		}
		if err := conflict(s.client.Create(ctx, made)); err != nil {
			return "", err
		}
		s.record = made
		return made.ResourceVersion, nil
	}
	if s.record == nil || s.record.ResourceVersion != version {
		return "", fmt.Errorf("the record is not the one that was read: %w", credentials.ErrConflict)
	}
	after := s.record.DeepCopy()
	after.Data = data
	if err := conflict(s.client.Update(ctx, after)); err != nil {
		return "", err
	}
	s.record = after
	return after.ResourceVersion, nil
}

// Secret implements [credentials.Store].
func (s *store) Secret(ctx context.Context) (rotation.Secret, error) {
	answer := rotation.Secret{Name: secretOf(s.host)}
	if answer.Name == "" {
		return answer, nil
	}
	read := &corev1.Secret{}
	switch err := s.live.Get(ctx, s.secretKey(), read); {
	case apierrors.IsNotFound(err):
		return answer, nil
	case err != nil:
		return answer, err
	}
	var owners []string
	for _, owner := range read.OwnerReferences {
		if owner.Kind != "BareMetalHost" {
			owners = append(owners, owner.Kind)
		}
	}
	answer.Found, answer.Login, answer.Version, answer.Written = true, loginOf(read), read.ResourceVersion, read.CreationTimestamp.Time
	answer.Immutable = read.Immutable != nil && *read.Immutable
	answer.Manager = rotation.ManagerOf(read.Labels, read.Annotations, owners)
	answer.ManagerAllowed = read.Annotations[names.RotateManagedSecret] == "true"
	return answer, nil
}

func (s *store) secretKey() types.NamespacedName {
	return types.NamespacedName{Namespace: s.host.Namespace, Name: secretOf(s.host)}
}

// Promote implements [credentials.Store].
func (s *store) Promote(ctx context.Context, version string, login rotation.Login) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": version},
		"data": map[string][]byte{
			corev1.BasicAuthUsernameKey: []byte(login.Username), corev1.BasicAuthPasswordKey: []byte(string(login.Password)),
		},
	})
	if err != nil {
		return err
	}
	// The cache may not hold this Secret: no read waits for it to be there.
	bare := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.host.Namespace, Name: secretOf(s.host)}}
	return conflict(s.client.Patch(ctx, bare, kclient.RawPatch(types.MergePatchType, patch), kclient.DisableReadYourWritesConsistency))
}

// conflict makes of a write that came too late what the rotation knows.
func conflict(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: %w", credentials.ErrConflict, err)
	}
	return err
}
