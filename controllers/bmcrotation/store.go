package bmcrotation

import (
	"context"
	"encoding/json"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// store has the Secrets of one host for one pass. It implements [credentials.Store].
type store struct {
	object

	// secret is the host's as it was read last.
	secret rotation.Secret
}

var _ credentials.Store = (*store)(nil)

// recordKey is where the record of a host is.
func recordKey(h *metal3.BareMetalHost) types.NamespacedName {
	return types.NamespacedName{Namespace: h.Namespace, Name: rotation.RecordName(h.Name)}
}

func (r *reconciler) store(h *metal3.BareMetalHost) *store {
	return &store{object: object{client: r.client, live: r.live, host: h, key: recordKey(h)}}
}

// Record implements [credentials.Records].
func (s *store) Record(ctx context.Context) (map[string][]byte, string, error) { return s.read(ctx) }

// WriteRecord implements [credentials.Records]. In the middle of a change the record
// belongs to nobody: it may hold the only copy of the BMC's password, and must not go
// with a host that is deleted. Whose it is at rest, the end of the pass says.
func (s *store) WriteRecord(ctx context.Context, version string, data map[string][]byte) (string, error) {
	return s.write(ctx, version, data, func(after *corev1.Secret) error {
		if alone := underWay(data); alone || version == "" {
			return s.own(after, alone)
		}
		return nil
	})
}

// underWay reports the data of a record in the middle of a change.
func underWay(data map[string][]byte) bool {
	r, err := rotation.Decode(data)
	return err != nil || r.UnderWay()
}

// settle ends a pass: a record that is not needed for itself goes with its host, at
// once if there is none any more.
func (s *store) settle(ctx context.Context) error {
	if s.held == nil {
		return nil
	}
	r, err := rotation.Decode(s.held.Data)
	if err != nil {
		return nil //nolint:nilerr // it stays as it is, and the condition says what is wrong with it
	}
	alone := r.Needed(s.secret)
	if !alone && s.host.UID == "" {
		version := s.held.ResourceVersion
		return kclient.IgnoreNotFound(s.client.Delete(ctx, s.held, kclient.Preconditions{ResourceVersion: &version}))
	}
	after := s.held.DeepCopy()
	if err := s.own(after, alone); err != nil || apiequality.Semantic.DeepEqual(after.OwnerReferences, s.held.OwnerReferences) {
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
