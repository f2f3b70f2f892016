package bmcrotation

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// observe says what a decision knows of the host, and how its BMC is reached. It does
// not say that the host is at rest.
func (r *reconciler) observe(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (rotation.Observed, client.Target, error) {
	o := rotation.Observed{
		BMC:     rotation.Place{Address: h.Spec.BMC.Address, Base: baseOf(h), Insecure: h.Spec.BMC.DisableCertificateVerification},
		Leaving: h.UID == "" || !h.DeletionTimestamp.IsZero(),
		Host:    kclient.ObjectKeyFromObject(h).String(), Every: r.options.Every, Policy: r.options.Policy, Limits: r.options.limits(b.Status.Report),
		Request: h.Annotations[names.RotateCredentials], Retry: h.Annotations[names.Retry],
		Demanded: b.Status.Report != nil && b.Status.Report.Accounts != nil && b.Status.Report.Accounts.PasswordChangeRequired,
	}
	if text, there := h.Annotations[names.PasswordPolicy]; there {
		policy, err := password.ParsePolicy(text)
		if err != nil {
			o.PolicyProblem = fmt.Sprintf("the annotation %s: %v", names.PasswordPolicy, err)
		}
		o.Policy = policy
	}
	target, a, err := targetOf(h, b, r.options.CA)
	switch {
	case err != nil:
		o.Unsupported = err.Error()
	case a.Family != address.Redfish:
		o.Unsupported = "the address " + a.Scheme + " is not one of Redfish: change the password by hand"
	}
	if target.TLS, err = trustOf(ctx, r.client, o.Host, target); err != nil {
		return o, target, err
	}
	if o.Sharers, err = r.sharers(ctx, h); err == nil {
		o.Neighbours, err = r.neighbours(ctx, h)
	}
	return o, target, err
}

// targetOf is how a host's BMC is reached, without a login; without a URL if it is not of
// Redfish.
func targetOf(h *metal3.BareMetalHost, b *v1alpha1.BMC, ca []byte) (client.Target, *address.Address, error) {
	t := client.Target{TLS: client.Trust{CA: ca, Insecure: h.Spec.BMC.DisableCertificateVerification}}
	a, err := address.Parse(h.Spec.BMC.Address)
	switch {
	case err != nil:
		return t, a, fmt.Errorf("spec.bmc.address of the host: %w", err)
	case a.Family == address.Redfish:
		t.URL, _ = a.URL()
		t.System = a.SystemPath()
		t.Basic = basicOnly(b, t)
	}
	return t, a, nil
}

// basicOnly reports whether the BMC is known for sessions that do not work.
func basicOnly(b *v1alpha1.BMC, t client.Target) bool {
	report, probed := b.Status.Report, b.Status.Probed
	return report != nil && probed != nil && probed.Address == t.URL+t.System && slices.Contains(quirks.Values(report.Quirks, quirks.SessionOrBasic), "basic")
}

// secretOf is the name of the Secret of a host's BMC.
func secretOf(h *metal3.BareMetalHost) string { return h.Spec.BMC.CredentialsName }

// spelled is a base address in the one spelling for all that are the same.
func spelled(base string) string {
	u, err := url.Parse(strings.ToLower(base))
	if err != nil || u.Host == "" {
		return ""
	}
	host, port := u.Hostname(), u.Port()
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	if port == "" {
		port = usualPorts[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port)
}

var usualPorts = map[string]string{"http": "80", "https": "443"}

// baseOf is the address of a host's BMC without its path, in one spelling for all that
// are the same; empty for one that is not of Redfish.
func baseOf(h *metal3.BareMetalHost) string {
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil {
		return ""
	}
	base, _ := a.URL()
	return spelled(base)
}

// sharers are the other hosts that log in with the host's Secret, sorted.
func (r *reconciler) sharers(ctx context.Context, h *metal3.BareMetalHost) ([]string, error) {
	if secretOf(h) == "" {
		return nil, nil
	}
	var list metal3.BareMetalHostList
	if err := r.client.List(ctx, &list, kclient.InNamespace(h.Namespace), kclient.MatchingFields{secretIndex: secretOf(h)}); err != nil {
		return nil, fmt.Errorf("list the hosts of Secret %q: %w", secretOf(h), err)
	}
	var others []string
	for i := range list.Items {
		if other := &list.Items[i]; other.Name != h.Name {
			others = append(others, other.Name)
		}
	}
	slices.Sort(others)
	return others, nil
}

// neighbours are the other hosts that reach the same BMC as the same user with a Secret
// of their own, sorted.
func (r *reconciler) neighbours(ctx context.Context, h *metal3.BareMetalHost) ([]string, error) {
	base := baseOf(h)
	if base == "" || secretOf(h) == "" {
		return nil, nil
	}
	var list metal3.BareMetalHostList
	if err := r.client.List(ctx, &list, kclient.MatchingFields{baseIndex: base}); err != nil {
		return nil, fmt.Errorf("list the hosts of BMC %s: %w", base, err)
	}
	if len(list.Items) < 2 {
		return nil, nil
	}
	mine, err := r.username(ctx, h)
	if err != nil || mine == "" {
		return nil, err
	}
	var others []string
	for i := range list.Items {
		other := &list.Items[i]
		if other.Namespace == h.Namespace && (other.Name == h.Name || secretOf(other) == secretOf(h)) {
			continue
		}
		theirs, err := r.username(ctx, other)
		if err != nil {
			return nil, err
		}
		if theirs == mine {
			others = append(others, kclient.ObjectKeyFromObject(other).String())
		}
	}
	slices.Sort(others)
	return others, nil
}

// username is the user of a host's Secret; empty for none.
func (r *reconciler) username(ctx context.Context, h *metal3.BareMetalHost) (string, error) {
	secret, found, err := secretcache.Reader{Client: r.client, Live: r.live}.Get(ctx, types.NamespacedName{Namespace: h.Namespace, Name: secretOf(h)})
	if err != nil || !found {
		return "", err
	}
	return loginOf(secret).Username, nil
}

// loginOf is the content of a Secret, without white space around.
func loginOf(secret *corev1.Secret) rotation.Login {
	return rotation.Login{
		Username: strings.TrimSpace(string(secret.Data[corev1.BasicAuthUsernameKey])),
		Password: client.Secret(strings.TrimSpace(string(secret.Data[corev1.BasicAuthPasswordKey]))),
	}
}

// restful reports a host that nothing is done with, and nothing is wished of. Whether
// its node is at rest, Ironic says.
func restful(h *metal3.BareMetalHost) bool {
	switch h.Status.Provisioning.State {
	case metal3.StateAvailable, metal3.StateReady:
		if h.NeedsProvisioning() {
			return false
		}
	case metal3.StateProvisioned:
		if nodespec.OtherWanted(h) {
			return false
		}
	case metal3.StateExternallyProvisioned:
	default:
		return false
	}
	switch h.Status.OperationalStatus {
	case metal3.OperationalStatusOK, metal3.OperationalStatusDetached:
		return h.Status.ErrorType == "" && h.DeletionTimestamp.IsZero()
	default:
		return false
	}
}
