package bmcrotation

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
)

// certificateStore has the Secret with the record of one host's certificate, and with
// what its BMC is trusted by, for one pass. It implements [credentials.Records] and
// [credentials.Truster]. It goes with its host: none of it opens anything.
type certificateStore struct {
	client kclient.Client
	live   kclient.Reader
	host   *metal3.BareMetalHost
	// target says how the BMC is checked as long as nothing was replaced.
	target client.Target
	// issuer is what its certificates are trusted by; empty if none is named now.
	issuer []byte
	// held is the object that was read or written last.
	held *corev1.Secret
}

var (
	_ credentials.Records = (*certificateStore)(nil)
	_ credentials.Truster = (*certificateStore)(nil)
)

// certificateKey is where the record of a host's certificate is.
func certificateKey(h *metal3.BareMetalHost) types.NamespacedName {
	return types.NamespacedName{Namespace: h.Namespace, Name: certificate.RecordName(h.Name)}
}

// kept are the keys that are not the record's own.
var kept = []string{trustedKey, pinKey, baseKey, issuerKey}

// read reads the object. What is of another BMC is not there.
func (s *certificateStore) read(ctx context.Context) (data map[string][]byte, version string, err error) {
	read := &corev1.Secret{}
	switch err := s.live.Get(ctx, certificateKey(s.host), read); {
	case apierrors.IsNotFound(err):
		s.held = nil
		return nil, "", nil
	case err != nil:
		return nil, "", err
	}
	s.held = read
	if string(read.Data[baseKey]) != spelled(s.target.URL) {
		return nil, read.ResourceVersion, nil
	}
	return read.Data, read.ResourceVersion, nil
}

// write replaces the object's data if it has that version still.
func (s *certificateStore) write(ctx context.Context, version string, data map[string][]byte) (string, error) {
	data = maps.Clone(data)
	data[baseKey] = []byte(spelled(s.target.URL))
	after := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.host.Namespace, Name: certificateKey(s.host).Name, Labels: map[string]string{names.EnvironmentLabel: names.EnvironmentValue},
	}}
	save := func() error { return s.client.Create(ctx, after) }
	if version != "" {
		if s.held == nil || s.held.ResourceVersion != version {
			return "", fmt.Errorf("the record is not the one that was read: %w", credentials.ErrConflict)
		}
		after = s.held.DeepCopy()
		save = func() error { return s.client.Update(ctx, after) }
	}
	after.Data, after.OwnerReferences = data, withoutHosts(after.OwnerReferences)
	if err := controllerutil.SetControllerReference(s.host, after, s.client.Scheme()); err != nil {
		return "", fmt.Errorf("own the record of host %q: %w", s.host.Name, err)
	}
	if s.held != nil && version != "" && apiequality.Semantic.DeepEqual(after, s.held) {
		return version, nil
	}
	if err := conflict(save()); err != nil {
		return "", err
	}
	s.held = after
	return after.ResourceVersion, nil
}

// Record implements [credentials.Records].
func (s *certificateStore) Record(ctx context.Context) (map[string][]byte, string, error) {
	data, version, err := s.read(ctx)
	own := maps.Clone(data)
	for _, key := range kept {
		delete(own, key)
	}
	return own, version, err
}

// WriteRecord implements [credentials.Records].
func (s *certificateStore) WriteRecord(ctx context.Context, version string, own map[string][]byte) (string, error) {
	data := maps.Clone(own)
	if s.held != nil && string(s.held.Data[baseKey]) == spelled(s.target.URL) {
		for _, key := range kept {
			if value, there := s.held.Data[key]; there {
				data[key] = value
			}
		}
	}
	if len(s.issuer) > 0 {
		data[issuerKey] = s.issuer
	}
	return s.write(ctx, version, data)
}

// Trust implements [credentials.Truster].
func (s *certificateStore) Trust(ctx context.Context) (client.Trust, string, error) {
	data, version, err := s.read(ctx)
	if err != nil {
		return client.Trust{}, "", err
	}
	if s.target.TLS.Insecure {
		return s.target.TLS, version, nil
	}
	return trusted(data, s.target), version, nil
}

// SetTrust implements [credentials.Truster].
func (s *certificateStore) SetTrust(ctx context.Context, version string, trust client.Trust) error {
	if s.target.TLS.Insecure {
		return nil // the host's spec says so
	}
	data := map[string][]byte{}
	if s.held != nil {
		data = maps.Clone(s.held.Data)
	}
	set := func(key string, value, before []byte) {
		delete(data, key)
		if !bytes.Equal(value, before) && len(value) > 0 {
			data[key] = value
		}
	}
	set(trustedKey, trust.CA, s.target.TLS.CA)
	set(pinKey, []byte(trust.Pin), []byte(s.target.TLS.Pin))
	_, err := s.write(ctx, version, data)
	return err
}
