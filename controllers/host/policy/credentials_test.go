package policy

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

// TestNewCredentials: the content of the Secret counts where it is known what was sent, else
// its version.
func TestNewCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		version, sent string // of what Ironic was told; the present ones are 2 and c0ffee
		secret        string
		node          string // what it keeps of what was sent
		isNew         bool
	}{
		"nothing was sent":                 {isNew: true},
		"as it was sent":                   {secret: "bmc", version: "2", sent: "c0ffee"},
		"marked since":                     {secret: "bmc", version: "1", sent: "c0ffee"},
		"changed since":                    {secret: "bmc", version: "1", sent: "beef", isNew: true},
		"another program's":                {secret: "bmc", version: "2"},
		"another program's, changed since": {secret: "bmc", version: "1", isNew: true},
		"the node has others":              {secret: "bmc", version: "2", sent: "c0ffee", node: "beef", isNew: true},
		"the node has them":                {secret: "bmc", version: "1", sent: "beef", node: "c0ffee"},
		"the node has another Secret's":    {secret: "other", version: "2", sent: "c0ffee", node: "c0ffee", isNew: true},
		"another Secret":                   {secret: "other", version: "2", sent: "c0ffee", isNew: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateProvisioned, ironic.StateActive)
			o.BMC = nodespec.BMC{Secret: "bmc", Version: "2", Content: "c0ffee"}
			o.Host.Status.TriedCredentials, o.Host.Status.Conditions = metal3.CredentialsStatus{}, nil
			if c.secret != "" {
				o.Host.Status.TriedCredentials = metal3.CredentialsStatus{Reference: &corev1.SecretReference{Name: c.secret, Namespace: o.Host.Namespace}, Version: c.version}
			}
			if c.sent != "" {
				d := decideWith(o)
				setSent(&Observed{Now: noon, Host: o.Host, BMC: nodespec.BMC{Content: c.sent}}, d)
				o.Host.Status = d.Status
			}
			o.Node.Credentials = c.node
			g.Expect(NewCredentials(o)).To(Equal(c.isNew))
			d := decideWith(o)
			remembers := rememberCredentials(o, d)
			g.Expect(remembers).To(Equal(!c.isNew && c.sent != "c0ffee"), "what another program has sent is remembered without another request")
			if remembers {
				o.Host.Status, o.BMC.Version = d.Status, "3"
				g.Expect(NewCredentials(o)).To(BeFalse(), "a mark makes no new credentials")
			}
		})
	}
}
