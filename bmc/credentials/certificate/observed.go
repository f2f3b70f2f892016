package certificate

import (
	"crypto/x509"
	"time"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// Observed is all that a decision knows.
type Observed struct {
	Now time.Time
	// Host is the host's namespace and name, with a slash between.
	Host   string
	Record *Record
	// Served is the leaf that a handshake of this pass has shown; nil if there was none.
	Served *x509.Certificate
	// Trust is how the BMC's certificate is checked now.
	Trust client.Trust
	// Issuer names who signs; empty: nothing is replaced.
	Issuer string
	// IssuerProblem says why it cannot sign.
	IssuerProblem string
	// Names are the names and addresses under which the BMC is reached, the first one
	// that of the host's BMC address.
	Names []string
	// RenewBefore is how long before its end a certificate is replaced; a third of its
	// life when zero.
	RenewBefore time.Duration
	// Scheduled says that a certificate is replaced without being asked for: when it is
	// not of the issuer, and before it ends.
	Scheduled bool
	// Request is the value of the annotation that asks for it.
	Request string
	// AtRest says that neither Ironic nor we are doing anything with the machine.
	AtRest bool
	// Unsupported says why the BMC cannot do it.
	Unsupported string
	// Through is another host of the same BMC, through which its certificate is replaced.
	Through string
	// IronicRefuses says that Ironic checks certificates and does not know the issuer.
	IronicRefuses bool
	// Barred says why nobody may log in at the BMC now; see [rotation.MayLogin].
	Barred string
	// Turn says that there is a place among the changes that run at once.
	Turn bool
}

// Action is one thing to do.
type Action interface {
	// Name is the action in words, for logs and tests.
	Name() string
}

type (
	// Wait is the end of a pass.
	Wait = reason.Wait
	// Generate has the BMC make a key and a request for the names ([Generated]).
	Generate struct{ Names []string }
	// Sign asks the issuer, by a name that stays the same for a request ([Signed]).
	Sign struct {
		ID      string
		Request []byte
	}
	// SetTrust writes how the BMC's certificate is checked, then the record.
	SetTrust struct {
		Trust client.Trust
		Then  *Record
	}
	// Install notes that the chain is sent ([Installed]), sends it, and notes the answer.
	Install struct{ Chain []byte }
	// Prove has Ironic read from the BMC ([Proven]).
	Prove struct{}
	// Save writes the record.
	Save struct {
		Record *Record
		What   string
	}
)

// Name implements [Action].
func (Generate) Name() string { return "have the BMC make a request" }

// Name implements [Action].
func (Sign) Name() string { return "have the issuer sign the request" }

// Name implements [Action].
func (SetTrust) Name() string { return "write what is trusted" }

// Name implements [Action].
func (Install) Name() string { return "send the certificate to the BMC" }

// Name implements [Action].
func (Prove) Name() string { return "have Ironic reach the BMC" }

// Name implements [Action].
func (s Save) Name() string { return s.What }
