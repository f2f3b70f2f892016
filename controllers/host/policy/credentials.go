package policy

import (
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/plan"
)

// sentCondition is on hosts whose BMC credentials Ironic was sent. Its message holds the
// digest of these. What status.triedCredentials holds is the version of the Secret, as with
// baremetal-operator, and each mark on the Secret makes another version: that of another
// host that begins to use it, above all. A node that Ironflow has sent them to keeps the same digest.
const sentCondition = "CredentialsSent"

// reasonSent is the condition's one reason.
const reasonSent = "Sent"

// sentHead begins the condition's message.
const sentHead = "digest of the username and password that Ironic was sent last: "

// NewCredentials reports whether Ironic has not been told the Secret's present content. Nodes
// of ours tell it themselves.
func NewCredentials(o *Observed) bool {
	if o.BMC.Problem != "" {
		return false
	}
	tried := o.Host.Status.TriedCredentials
	switch {
	case tried.Reference == nil || tried.Reference.Name != o.BMC.Secret:
		return true
	case o.Node != nil && o.Node.Credentials != "":
		return o.Node.Credentials != o.BMC.Content
	case tried.Version == o.BMC.Version:
		return false
	default:
		return sentCredentials(o.Host) != o.BMC.Content
	}
}

// sentCredentials is the digest of what Ironic was sent last; empty where that is not
// known: another program has sent it.
func sentCredentials(h *metal3.BareMetalHost) string {
	c := meta.FindStatusCondition(h.Status.Conditions, sentCondition)
	if c == nil {
		return ""
	}
	digest, _ := strings.CutPrefix(c.Message, sentHead)
	return digest
}

// SavedBefore takes over what was saved before the request that is decided on, but for what
// that one sends: what was saved stays said, so that the result is no reason for a second patch.
func (d *Decision) SavedBefore(saved *metal3.BareMetalHostStatus) {
	decided := d.Status.Conditions
	d.Status.Conditions, d.Status.LastUpdated = slices.Clone(saved.Conditions), saved.LastUpdated
	for _, kind := range []string{sentCondition, plan.TakenCondition} {
		if c := meta.FindStatusCondition(decided, kind); c != nil {
			meta.SetStatusCondition(&d.Status.Conditions, *c)
		}
	}
}

// rememberCredentials records the digest of credentials that were sent without it, while
// their version shows that they are the same, and reports whether it does.
func rememberCredentials(o *Observed, d *Decision) bool {
	if o.BMC.Problem != "" || o.BMC.Content == "" || NewCredentials(o) || sentCredentials(o.Host) == o.BMC.Content {
		return false
	}
	setSent(o, d)
	return true
}

func setSent(o *Observed, d *Decision) {
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: sentCondition, Status: metav1.ConditionTrue, Reason: reasonSent, Message: sentHead + o.BMC.Content,
		ObservedGeneration: o.Host.Generation, LastTransitionTime: metav1.NewTime(o.Now).Rfc3339Copy(),
	})
}

// leaveSecret gives a Secret back whose place another one has taken.
func leaveSecret(o *Observed, d *Decision, c metal3.CredentialsStatus) {
	if c.Reference != nil && c.Reference.Name != o.BMC.Secret {
		d.ReleaseSecrets = append(d.ReleaseSecrets, c.Reference.Name)
	}
}

// triedCredentials records what is sent to Ironic. What was tried before and never
// came to be good is left; what was good stays the host's until there is better.
func triedCredentials(o *Observed, d *Decision) {
	if tried, good := o.Host.Status.TriedCredentials, o.Host.Status.GoodCredentials.Reference; good == nil || tried.Reference == nil || *good != *tried.Reference {
		leaveSecret(o, d, tried)
	}
	d.Status.TriedCredentials = metal3.CredentialsStatus{
		Reference: &corev1.SecretReference{Name: o.BMC.Secret, Namespace: o.Host.Namespace},
		Version:   o.BMC.Version,
	}
	setSent(o, d)
}

func sameCredentials(a, b metal3.CredentialsStatus) bool {
	if a.Version != b.Version || (a.Reference == nil) != (b.Reference == nil) {
		return false
	}
	return a.Reference == nil || *a.Reference == *b.Reference
}
