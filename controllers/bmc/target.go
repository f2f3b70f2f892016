package bmc

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reasons of Ready that need a person.
const (
	ReasonNoRedfish      = "NoRedfish"
	ReasonBadAddress     = "BadAddress"
	ReasonNoCredentials  = "NoCredentials"
	ReasonBadCredentials = "BadCredentials"
)

// target says how the BMC of a host is reached. What a person has to mend is a
// [reconcile.Stalled].
func (r *reconciler) target(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (client.Target, error) {
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil {
		return client.Target{}, reconcile.Stall(ReasonBadAddress, "spec.bmc.address of the host: %w", err)
	}
	base, ok := a.URL()
	if !ok {
		return client.Target{}, reconcile.Stall(ReasonNoRedfish, "the address %s is not one of Redfish: nothing more can be known of this BMC", a.Scheme)
	}
	key := types.NamespacedName{Namespace: h.Namespace, Name: h.Spec.BMC.CredentialsName}
	secret, found, err := r.secrets.Get(ctx, key)
	if err != nil {
		return client.Target{}, fmt.Errorf("read the BMC's Secret: %w", err)
	}
	if !found {
		return client.Target{}, reconcile.Stall(ReasonNoCredentials, "the BMC's Secret %s does not exist: create it with the keys username and password", strconv.Quote(key.Name))
	}
	t := client.Target{
		URL: base, System: a.SystemPath(), TLS: client.Trust{CA: r.options.CA, Insecure: h.Spec.BMC.DisableCertificateVerification},
		Username: strings.TrimSpace(string(secret.Data["username"])), Password: client.Secret(strings.TrimSpace(string(secret.Data["password"]))),
	}
	if t.Username == "" || t.Password == "" {
		return client.Target{}, reconcile.Stall(ReasonNoCredentials, "the BMC's Secret %s needs the keys username and password, both not empty", strconv.Quote(key.Name))
	}
	t.Basic = basicOnly(b, t)
	return t, nil
}

// basicOnly reports whether the BMC is known for sessions that do not work. The first
// probe finds that out, so that it still tries one.
func basicOnly(b *v1alpha1.BMC, t client.Target) bool {
	report, probed := b.Status.Report, b.Status.Probed
	return report != nil && probed != nil && probed.Address == t.URL+t.System && slices.Contains(quirks.Values(report.Quirks, quirks.SessionOrBasic), "basic")
}
