package lab

import "net/http"

// KubernetesVersion is what the control plane is linked to report.
const KubernetesVersion = kubernetesVersion

// Client is an HTTP client that trusts the lab.
func (l *Lab) Client(user, password string) *http.Client { return l.client(user, password) }
