package bmcrotation

import (
	"context"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/redfish"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// concerned reports a host whose certificate somebody asks for, or that may be due, and
// one with a replacement under way.
func (r *certifier) concerned(ctx context.Context, reader kclient.Reader, h *metal3.BareMetalHost) (bool, error) {
	if !h.DeletionTimestamp.IsZero() {
		return false, nil
	}
	if h.Annotations[names.ReplaceCertificate] != "" || r.options.Scheduled && r.options.Authority != nil && strings.HasPrefix(baseOf(h), "https:") {
		return true, nil
	}
	secret := &corev1.Secret{}
	if err := reader.Get(ctx, certificateKey(h), secret); err != nil {
		return false, kclient.IgnoreNotFound(err)
	}
	return certificate.Decode(secret.Data).UnderWay(), nil
}

// observe says what a decision knows of the host, and how its BMC is reached. It does
// not say that the host is at rest.
func (r *certifier) observe(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (certificate.Observed, *redfish.Server, error) {
	o := certificate.Observed{
		Host: kclient.ObjectKeyFromObject(h).String(), Scheduled: r.options.Scheduled, Request: h.Annotations[names.ReplaceCertificate],
		IronicRefuses: !h.Spec.BMC.DisableCertificateVerification && !r.options.IronicTrusts,
	}
	if r.options.Authority != nil {
		a, err := r.options.Authority()
		if err != nil {
			o.Issuer, o.IssuerProblem = "of the flag", "the issuer cannot be read: "+err.Error()
		} else {
			o.Issuer = a.Name()
		}
	}
	target, a, err := targetOf(h, b, r.options.CA)
	server := &redfish.Server{Host: &redfish.Host{Pool: r.options.BMCs, Key: o.Host, Target: target}}
	switch {
	case err != nil:
		o.Unsupported = err.Error()
	case !strings.HasPrefix(target.URL, "https:"):
		o.Unsupported = "the address " + a.Scheme + " is not one of Redfish over https"
	default:
		o.Names = []string{a.Host()}
	}
	if o.Through, err = r.through(ctx, h); err != nil {
		return o, server, err
	}
	server.Login, o.Barred, err = r.login(ctx, h)
	return o, server, err
}

// through is the host that the certificate of this one's BMC is replaced through: of
// several at the same BMC, as blades behind one chassis controller, the first by name.
// Empty is the host itself. Each would take the others' certificate for a foreign one.
func (r *certifier) through(ctx context.Context, h *metal3.BareMetalHost) (string, error) {
	hosts, err := atBase(ctx, r.client, baseOf(h))
	if err != nil || len(hosts) < 2 {
		return "", err
	}
	if first := slices.Min(hosts); first != kclient.ObjectKeyFromObject(h).String() {
		return first, nil
	}
	return "", nil
}

// login is that of the host's Secret, or why nobody may log in with it now.
func (r *certifier) login(ctx context.Context, h *metal3.BareMetalHost) (login rotation.Login, barred string, err error) {
	secret, found, err := secretcache.Reader{Client: r.client, Live: r.live}.Get(ctx, types.NamespacedName{Namespace: h.Namespace, Name: secretOf(h)})
	if err != nil {
		return login, "", err
	}
	if found {
		login = loginOf(secret)
	}
	if login.Username == "" || login.Password == "" {
		return login, "the Secret " + secretOf(h) + " does not exist, or lacks username or password", nil
	}
	// As it is stored, not as the cache has it: a login in the middle of a change of the
	// password may lock the account.
	stored := &corev1.Secret{}
	if err := r.live.Get(ctx, recordKey(h), stored); err != nil {
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return login, "", err
	}
	record, err := rotation.Decode(stored.Data)
	if err != nil {
		return login, "the record of the BMC's password: " + err.Error(), nil //nolint:nilerr // it is in the condition
	}
	barred, _ = rotation.MayLogin(record, login)
	return login, barred, nil
}
