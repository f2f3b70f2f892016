// Package mirrors reads the ConfigMap with registry mirrors that an InfraEnv names: what
// its live images get as /etc/containers/registries.conf, and the certificates of the
// mirrors. The keys are those that existing fleets use.
package mirrors

import (
	"context"
	"encoding/pem"
	"fmt"

	"github.com/BurntSushi/toml"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Keys of the ConfigMap.
const (
	RegistriesKey   = "registries.conf"
	CertificatesKey = "ca-bundle.crt"
)

// Mirrors are those of an environment; zero for none.
type Mirrors struct {
	// Registries is the content of registries.conf, Certificates are in PEM.
	Registries, Certificates string
}

// Read reads the mirrors that a spec names by spec.mirrorRegistryRef; nil names none.
// What a person has to mend is a [reconcile.Stalled].
func Read(ctx context.Context, live client.Reader, ref *agentv1.NamespacedReference) (Mirrors, error) {
	if ref == nil || ref.Name == "" {
		return Mirrors{}, nil
	}
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	var files corev1.ConfigMap
	err := live.Get(ctx, key, &files)
	switch {
	case apierrors.IsNotFound(err):
		return Mirrors{}, stall("ConfigMap %s of spec.mirrorRegistryRef does not exist: create it, or correct the reference", key)
	case err != nil:
		return Mirrors{}, fmt.Errorf("read ConfigMap %s of spec.mirrorRegistryRef: %w", key, err)
	}
	m := Mirrors{Registries: files.Data[RegistriesKey], Certificates: files.Data[CertificatesKey]}
	return m, m.check(key)
}

func (m Mirrors) check(key types.NamespacedName) error {
	var conf map[string]any
	if m.Registries == "" {
		return stall("ConfigMap %s of spec.mirrorRegistryRef has no key %s: add it", key, RegistriesKey)
	}
	if err := toml.Unmarshal([]byte(m.Registries), &conf); err != nil {
		return stall("ConfigMap %s of spec.mirrorRegistryRef, key %s: %v: write it as containers-registries.conf(5) says", key, RegistriesKey, err)
	}
	if block, _ := pem.Decode([]byte(m.Certificates)); m.Certificates != "" && (block == nil || block.Type != "CERTIFICATE") {
		return stall("ConfigMap %s of spec.mirrorRegistryRef, key %s: want certificates in PEM", key, CertificatesKey)
	}
	return nil
}

func stall(format string, args ...any) error {
	return reconcile.Stall(agentv1.ReasonImageCreationError, format, args...)
}
