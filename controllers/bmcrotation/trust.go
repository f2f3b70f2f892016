package bmcrotation

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
)

// Keys of the Secret that has the record of a host's certificate: beside what the record
// itself needs, how the BMC is trusted since we have replaced it, and which BMC that is.
const (
	trustedKey = "ca.crt"
	pinKey     = "pin"
	baseKey    = "base"
)

// trustOf is how the certificate of a host's BMC is checked: as the target says, unless
// we have replaced it. Whoever checks nothing goes on so.
func trustOf(ctx context.Context, reader kclient.Reader, key string, t client.Target) (client.Trust, error) {
	if t.TLS.Insecure {
		return t.TLS, nil
	}
	namespace, name, _ := strings.Cut(key, "/")
	secret := &corev1.Secret{}
	switch err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: certificate.RecordName(name)}, secret); {
	case apierrors.IsNotFound(err):
		return t.TLS, nil
	case err != nil:
		return t.TLS, fmt.Errorf("read what BMC %s is trusted by: %w", key, err)
	}
	return trusted(secret.Data, t), nil
}

// trusted is the trust that a record's data give a target. They are of one BMC: a host
// that was given another one is checked as if nothing had been replaced.
func trusted(data map[string][]byte, t client.Target) client.Trust {
	if string(data[baseKey]) != spelled(t.URL) {
		return t.TLS
	}
	if ca := data[trustedKey]; len(ca) > 0 {
		t.TLS.CA = ca
	}
	if pin := data[pinKey]; len(pin) > 0 {
		t.TLS.Pin = string(pin)
	}
	return t.TLS
}
