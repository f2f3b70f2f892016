package bmcrotation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
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
// we have replaced it, through this host or another one of the namespace at the same
// BMC: of several, through the first by name last. Whoever checks nothing goes on so.
func trustOf(ctx context.Context, reader kclient.Reader, key string, t client.Target) (client.Trust, error) {
	if t.TLS.Insecure {
		return t.TLS, nil
	}
	hosts, err := atBase(ctx, reader, spelled(t.URL))
	if err != nil {
		return t.TLS, err
	}
	namespace, _, _ := strings.Cut(key, "/")
	for _, host := range append(hosts, key) {
		// Whoever writes Secrets in another namespace says nothing of what we trust in this one.
		of, name, _ := strings.Cut(host, "/")
		if of != namespace {
			continue
		}
		secret := &corev1.Secret{}
		err := reader.Get(ctx, types.NamespacedName{Namespace: of, Name: certificate.RecordName(name)}, secret)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return t.TLS, fmt.Errorf("read what BMC %s is trusted by: %w", host, err)
		case decides(secret.Data, t):
			return trusted(secret.Data, t), nil
		}
	}
	return t.TLS, nil
}

// atBase are the hosts of a BMC, sorted.
func atBase(ctx context.Context, reader kclient.Reader, base string) ([]string, error) {
	if base == "" {
		return nil, nil
	}
	var list metal3.BareMetalHostList
	// Writes that are under way are not waited for: none of ours changes an address.
	as := []kclient.ListOption{kclient.UnsafeDisableDeepCopy, kclient.DisableReadYourWritesConsistency}
	if err := reader.List(ctx, &list, append(as, kclient.MatchingFields{baseIndex: base})...); err != nil {
		return nil, fmt.Errorf("list the hosts of BMC %s: %w", base, err)
	}
	hosts := make([]string, 0, len(list.Items))
	for i := range list.Items {
		hosts = append(hosts, kclient.ObjectKeyFromObject(&list.Items[i]).String())
	}
	slices.Sort(hosts)
	return hosts, nil
}

// about reports the data of a record that is about a target's BMC.
func about(data map[string][]byte, t client.Target) bool {
	return string(data[baseKey]) == spelled(t.URL)
}

// decides reports the data of a record that says how a target is trusted: something was
// replaced through it, or is about to be.
func decides(data map[string][]byte, t client.Target) bool {
	return about(data, t) && (len(data[trustedKey])+len(data[pinKey]) > 0 || certificate.Decode(data).Installed != "")
}

// trusted is the trust that a record's data give a target. They are of one BMC: a host
// that was given another one is checked as if nothing had been replaced.
func trusted(data map[string][]byte, t client.Target) client.Trust {
	if !about(data, t) {
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
