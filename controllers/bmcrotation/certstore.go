package bmcrotation

import (
	"bytes"
	"context"
	"maps"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
)

// certificateStore has the Secret with the record of one host's certificate, and with
// what its BMC is trusted by, for one pass. It implements [credentials.Records] and
// [credentials.Truster]. It goes with its host: none of it opens anything.
type certificateStore struct {
	object

	// target says how the BMC is checked as long as nothing was replaced, found how as long
	// as nothing was through this host.
	target client.Target
	found  client.Trust
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
var kept = []string{trustedKey, pinKey, baseKey}

func (r *certifier) store(h *metal3.BareMetalHost, target client.Target, found client.Trust) *certificateStore {
	return &certificateStore{object: object{client: r.client, live: r.live, host: h, key: certificateKey(h)}, target: target, found: found}
}

// current reads the object. What is of another BMC is not there.
func (s *certificateStore) current(ctx context.Context) (data map[string][]byte, version string, err error) {
	data, version, err = s.read(ctx)
	if !about(data, s.target) {
		data = nil
	}
	return data, version, err
}

// save replaces the object's data if it has that version still.
func (s *certificateStore) save(ctx context.Context, version string, data map[string][]byte) (string, error) {
	data = maps.Clone(data)
	data[baseKey] = []byte(spelled(s.target.URL))
	return s.write(ctx, version, data, func(after *corev1.Secret) error { return s.own(after, false) })
}

// Record implements [credentials.Records].
func (s *certificateStore) Record(ctx context.Context) (map[string][]byte, string, error) {
	data, version, err := s.current(ctx)
	own := maps.Clone(data)
	for _, key := range kept {
		delete(own, key)
	}
	return own, version, err
}

// WriteRecord implements [credentials.Records].
func (s *certificateStore) WriteRecord(ctx context.Context, version string, own map[string][]byte) (string, error) {
	data := maps.Clone(own)
	if s.held != nil && about(s.held.Data, s.target) {
		for _, key := range kept {
			if value, there := s.held.Data[key]; there {
				data[key] = value
			}
		}
	}
	return s.save(ctx, version, data)
}

// Trust implements [credentials.Truster].
func (s *certificateStore) Trust(ctx context.Context) (client.Trust, string, error) {
	data, version, err := s.current(ctx)
	if err != nil {
		return client.Trust{}, "", err
	}
	switch {
	case s.target.TLS.Insecure:
		return s.target.TLS, version, nil
	case !decides(data, s.target):
		return s.found, version, nil
	}
	return trusted(data, s.target), version, nil
}

// installed is the digest of the certificate that was installed last, as of the last read.
func (s *certificateStore) installed() string {
	if s.held == nil || !about(s.held.Data, s.target) {
		return ""
	}
	return certificate.Decode(s.held.Data).Installed
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
	_, err := s.save(ctx, version, data)
	return err
}
