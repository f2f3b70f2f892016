package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Types of conditions of a BMC.
const (
	// Ready is True when the BMC was probed and nothing below is wrong.
	Ready = "Ready"
	// Reachable says whether the last call came through, else why not.
	Reachable = "Reachable"
	// PreflightPassed says whether the host's wishes can work.
	PreflightPassed = "PreflightPassed"
	// InSync says whether the BMC shows what was written to it.
	InSync = "InSync"
	// Healthy says whether all parts are well, else which is worst.
	Healthy = "Healthy"
	// Subscribed says whether events of the BMC reach us.
	Subscribed = "Subscribed"
	// CredentialsCurrent says how the rotation of the password stands.
	CredentialsCurrent = "CredentialsCurrent"
	// CertificateCurrent says how the replacement of its web server's certificate stands.
	CertificateCurrent = "CertificateCurrent"
)

// GetConditions returns the conditions.
func (b *BMC) GetConditions() []metav1.Condition { return b.Status.Conditions }

// SetConditions replaces the conditions.
func (b *BMC) SetConditions(conditions []metav1.Condition) { b.Status.Conditions = conditions }
