package bmcrotation

import (
	"context"
	"encoding/json"
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
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// store has the Secrets of one host for one pass. It implements [credentials.Store].
// It reads from the API server: a copy of the cache may be older than our own writes.
type store struct {
	client kclient.Client
	live   kclient.Reader
	host   *metal3.BareMetalHost
	// record is the object that was read or written last, and secret the host's.
	record *corev1.Secret
	secret rotation.Secret
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
// that the cache holds, so that a host without one costs no request. In the middle of a
// change it belongs to nobody: it may hold the only copy of the BMC's password, and
// must not go with a host that is deleted.
func (s *store) WriteRecord(ctx context.Context, version string, data map[string][]byte) (string, error) {
	if version == "" {
		made := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: s.host.Namespace, Name: recordKey(s.host).Name, Labels: map[string]string{names.EnvironmentLabel: names.EnvironmentValue},
			},
			Data: data,
		}
		if err := s.own(made, underWay(data)); err != nil {
			return "", err
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
	if underWay(data) {
		after.OwnerReferences = withoutHosts(after.OwnerReferences)
	}
	if err := conflict(s.client.Update(ctx, after)); err != nil {
		return "", err
	}
	s.record = after
	return after.ResourceVersion, nil
}

// underWay reports the data of a record in the middle of a change.
func underWay(data map[string][]byte) bool {
	r, err := rotation.Decode(data)
	return err != nil || r.UnderWay()
}

// withoutHosts are owners that are no hosts: one of the same name that was deleted counts
// no more than ours.
func withoutHosts(owners []metav1.OwnerReference) []metav1.OwnerReference {
	return slices.DeleteFunc(slices.Clone(owners), func(o metav1.OwnerReference) bool { return o.Kind == "BareMetalHost" })
}

// own has a record go with its host, or outlive it.
func (s *store) own(record *corev1.Secret, alone bool) error {
	record.OwnerReferences = withoutHosts(record.OwnerReferences)
	if alone || s.host.UID == "" {
		return nil
	}
	if err := controllerutil.SetControllerReference(s.host, record, s.client.Scheme()); err != nil {
		return fmt.Errorf("own the record of host %q: %w", s.host.Name, err)
	}
	return nil
}

// settle ends a pass: a record that is not needed for itself goes with its host, at
// once if there is none any more.
func (s *store) settle(ctx context.Context) error {
	if s.record == nil {
		return nil
	}
	r, err := rotation.Decode(s.record.Data)
	if err != nil {
		return nil //nolint:nilerr // it stays as it is, and the condition says what is wrong with it
	}
	alone := r.Needed(s.secret)
	if !alone && s.host.UID == "" {
		version := s.record.ResourceVersion
		return kclient.IgnoreNotFound(s.client.Delete(ctx, s.record, kclient.Preconditions{ResourceVersion: &version}))
	}
	after := s.record.DeepCopy()
	if err := s.own(after, alone); err != nil || apiequality.Semantic.DeepEqual(after.OwnerReferences, s.record.OwnerReferences) {
		return err
	}
	return s.client.Update(ctx, after)
}

// Secret implements [credentials.Store].
func (s *store) Secret(ctx context.Context) (answer rotation.Secret, err error) {
	defer func() { s.secret = answer }()
	answer = rotation.Secret{Name: secretOf(s.host)}
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
