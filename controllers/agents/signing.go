package agents

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/store"
)

// csrStatus shows the signing requests of the host's kubelet that ironflow-cluster told the hub
// of; nil where there are none.
func csrStatus(s store.Signing) *agentv1.CSRStatus {
	if s.Attempted.IsZero() {
		return nil
	}
	out := &agentv1.CSRStatus{LastApprovalAttempt: new(stored(s.Attempted))}
	for _, one := range s.Approved {
		out.ApprovedCSRs = append(out.ApprovedCSRs, agentv1.CSRInfo{Name: one.Name, Type: one.Type, ApprovedAt: stored(one.At)})
	}
	return out
}

// signing is what the Agent has shown of them, for a hub that has lost its store.
func signing(s *agentv1.CSRStatus) (out store.Signing) {
	if s == nil {
		return out
	}
	if s.LastApprovalAttempt != nil {
		out.Attempted = s.LastApprovalAttempt.UTC()
	}
	for _, one := range s.ApprovedCSRs {
		out.Approved = append(out.Approved, store.Signed{Name: one.Name, Type: one.Type, At: one.ApprovedAt.UTC()})
	}
	return out
}

// stored is a time as the API server keeps it.
func stored(t time.Time) metav1.Time {
	at := metav1.NewTime(t)
	return at.Rfc3339Copy()
}
