package policy

import (
	"github.com/ironflow/ironflow/controllers/host/nodespec"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
)

// wantsPullSecret reports whether credentials must be read before the node is
// told what to deploy.
func wantsPullSecret(o *Observed) bool {
	return o.State() == metal3.StateProvisioning && nodespec.Deployable(o.Node.ProvisionState) && nodespec.PullSecretName(o.Host.Spec.Image) != ""
}

// pullSecretRead has the credentials read and reports whether they can be used.
func pullSecretRead(o *Observed, d *Decision) bool {
	switch {
	case o.PullSecret == nil:
		d.do(ReadPullSecret{})
	case o.PullSecret.Problem != "":
		fail(o, d, metal3.ProvisioningError, causeSpec, o.PullSecret.Problem)
		if o.PullSecret.Reason != "" {
			d.warn(o.PullSecret.Reason, o.PullSecret.Problem)
		}
		d.count(Count{MetricHostConfigError, []string{"image pull secret"}})
	default:
		return true
	}
	return false
}
