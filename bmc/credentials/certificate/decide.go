package certificate

import (
	"bytes"
	"encoding/pem"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// phase is a row of the table.
type phase struct {
	step func(*Observed) Action
	next []Phase
	// request and chain say what the record has then.
	request, chain bool
	// login says that its step logs in at the BMC, or has Ironic do so.
	login bool
}

// phases is the whole machine. It is filled in by init, because steps refer to it.
var phases map[Phase]phase

func init() {
	phases = map[Phase]phase{
		Rested:     {step: begin, next: []Phase{Requested}},
		Requested:  {step: order, next: []Phase{Issued, Rested}, request: true},
		Issued:     {step: install, next: []Phase{Installing, Rested}, request: true, chain: true, login: true},
		Installing: {step: interrupted, next: []Phase{Proving}, request: true, chain: true},
		Proving:    {step: prove, next: []Phase{Issued, Switching, Rested}, request: true, chain: true},
		Switching:  {step: swap, next: []Phase{Checking}, request: true, chain: true},
		Checking:   {step: check, next: []Phase{Rested}, request: true, chain: true, login: true},
	}
}

// Decide says what to do now. It is a function of its argument alone.
func Decide(o *Observed) Action {
	if r := o.Record; o.Now.Before(r.NotBefore) && r.Phase != Rested {
		return o.stop(r.NotBefore.Sub(o.Now), r.Trouble.Reason, r.Trouble.Message)
	}
	if o.Barred != "" && phases[o.Record.Phase].login {
		return o.stop(0, reason.WaitingForTurn, o.Barred)
	}
	return phases[o.Record.Phase].step(o)
}

const (
	// retryFailed is how long a replacement that was given up is left alone.
	retryFailed = 24 * time.Hour
	turnWait    = 30 * time.Second
	// issuerWait is between two looks at a request that nobody has signed yet.
	issuerWait = 15 * time.Second
	// restart is how long a BMC's web server may take until it serves a certificate.
	restart = 30 * time.Second
	// patience is how long we look before it is sent again; mostInstalls how often.
	patience     = 5 * time.Minute
	mostInstalls = 3
)

// begin is the step at rest.
func begin(o *Observed) Action {
	if o.Issuer == "" {
		return o.stop(0, reason.NoIssuer, "no issuer is named")
	}
	if o.Through != "" {
		return o.stop(0, reason.Current, "the certificate of this BMC is replaced through host "+o.Through+", which has the same one")
	}
	asked := o.Request != "" && o.Request != o.Record.Asked
	due, wait := o.due()
	if (asked || o.Scheduled) && o.Now.Before(o.Record.NotBefore) {
		return o.stop(o.Record.NotBefore.Sub(o.Now), o.Record.Trouble.Reason, o.Record.Trouble.Message)
	}
	if o.Scheduled && !asked && o.Served == nil {
		return o.stop(time.Hour, reason.BMCSilent, "the BMC shows no certificate, so that it is not known whether another one is due")
	}
	if !asked && !due {
		if o.Record.Trouble.Reason != "" {
			return o.stop(wait, o.Record.Trouble.Reason, o.Record.Trouble.Message)
		}
		return o.stop(wait, reason.Current, o.text())
	}
	switch {
	case o.Unsupported != "":
		return o.stop(0, reason.Unsupported, o.Unsupported)
	case o.IssuerProblem != "":
		return o.stop(10*time.Minute, reason.IssuerFails, o.IssuerProblem)
	case o.IronicRefuses:
		return o.stop(0, reason.IronicRefuses, "Ironic checks the BMC's certificate and does not know the authority of issuer "+o.Issuer+
			": make the conductors trust it, or switch the check off for this host")
	case o.Served == nil:
		return o.stop(time.Minute, reason.BMCSilent, "the BMC shows no certificate")
	case o.Barred != "":
		return o.stop(0, reason.WaitingForTurn, o.Barred)
	case !o.AtRest:
		return o.stop(0, reason.NotAtRest, "the certificate is replaced when the host is at rest")
	case !o.Turn:
		return o.stop(turnWait, reason.WaitingForTurn, "the certificates or passwords of other BMCs are being changed")
	}
	return Generate{o.Names}
}

// Turn is the end of a pass that must go on, while the BMC's password is changed.
func Turn(o *Observed) Wait {
	return o.stop(turnWait, reason.WaitingForTurn, "the password of the same BMC is being changed")
}

// due reports a certificate that is to be replaced without being asked for, or when.
func (o *Observed) due() (bool, time.Duration) {
	if !o.Scheduled || o.Served == nil {
		return false, 0
	}
	at := o.Now
	if Digest(o.Served.Raw) == o.Record.Installed {
		before := o.RenewBefore
		if before <= 0 {
			before = o.Served.NotAfter.Sub(o.Served.NotBefore) / 3
		}
		// The spread that passwords have, too: a fleet was installed in one day.
		at = rotation.Due(o.Host, o.Served.NotBefore, o.Served.NotAfter.Add(-before).Sub(o.Served.NotBefore))
	}
	if again := o.Record.GaveUp.Add(retryFailed); !o.Record.GaveUp.IsZero() && again.After(at) {
		at = again
	}
	return !o.Now.Before(at), max(0, at.Sub(o.Now))
}

func (o *Observed) text() string {
	if o.Served == nil || o.Record.Installed == "" {
		return "nobody asks for another certificate"
	}
	return "the certificate of issuer " + o.Issuer + " is good until " + o.Served.NotAfter.UTC().Format(time.RFC3339)
}

// order is the step that has the request signed.
func order(o *Observed) Action {
	r := o.Record
	if _, err := ParseRequest(r.Request); err != nil {
		return Save{r.giveUp(o, reason.BadRequest, err.Error()), "give up: nobody should sign this request"}
	}
	return Sign{ID: o.id(), Request: r.Request}
}

// id names the request for the issuer: a name that Kubernetes takes.
func (o *Observed) id() string {
	_, name, _ := strings.Cut(o.Host, "/")
	block, _ := pem.Decode(o.Record.Request)
	if block == nil {
		return name
	}
	return name + "-bmc-" + Digest(block.Bytes)[:10]
}

// install is the step of a certificate that was not sent. Before, it is trusted beside
// the old one wherever both can be.
func install(o *Observed) Action {
	r := o.Record
	if err := CheckIssued(r.Chain, r.Request, r.CA, o.Names, o.Now); err != nil {
		return Save{r.giveUp(o, reason.WrongCertificate, err.Error()), "give up: the certificate would lock everybody out"}
	}
	if !o.AtRest {
		return o.stop(0, reason.NotAtRest, "the certificate is sent when the host is at rest")
	}
	if wide, differs := o.widened(); differs {
		return SetTrust{Trust: wide, Then: r}
	}
	return Install{r.Chain}
}

// widened is what is trusted while either certificate may be served: more authorities
// can stand side by side. Pins cannot, nor the system's authorities with others, and the
// handshake that proves the new one does without.
func (o *Observed) widened() (client.Trust, bool) {
	t := o.Trust
	if len(t.CA) == 0 || t.Pin != "" || t.Insecure || bytes.Contains(t.CA, bytes.TrimSpace(o.Record.CA)) {
		return t, false
	}
	t.CA = append(append(bytes.TrimSpace(bytes.Clone(t.CA)), '\n'), o.Record.CA...)
	return t, true
}

// switched is what is trusted once the new certificate is served. Whoever checks
// nothing is left alone.
func (o *Observed) switched() client.Trust {
	t := o.Trust
	if t.Pin != "" {
		t.Pin = o.digestOfChain()
	}
	// The system's authorities know nothing of an issuer of the site's own.
	if len(t.CA) > 0 || t.Pin == "" && !t.Insecure {
		t.CA = bytes.Clone(o.Record.CA)
	}
	return t
}

// interrupted is the step of a record that was left while the certificate was sent.
func interrupted(o *Observed) Action {
	return Save{Installed(o, o.Record, rotation.NoAnswer, "this program ended before the answer"), "look whether the certificate that was being sent is served"}
}

// prove is the step that looks for the new certificate.
func prove(o *Observed) Action {
	r := o.Record
	served := ""
	if o.Served != nil {
		served = Digest(o.Served.Raw)
	}
	switch served {
	case "":
		return Save{r.retry(o, reason.BMCSilent, "the BMC shows no certificate"), "wait for the BMC"}
	case o.digestOfChain():
		return Save{r.to(Switching), "the BMC serves the new certificate"}
	case r.Old:
	default:
		return Save{r.giveUp(o, reason.Foreign, "the BMC serves a certificate that is neither the old nor the new one: somebody else has replaced it"), "give up: somebody else has replaced the certificate"}
	}
	return again(o)
}

// again is for a BMC that serves the old certificate still. One that has taken the new
// one, or may have, is not given up: it may serve it after its next start.
func again(o *Observed) Action {
	r := o.Record
	waited, pause := o.Now.Sub(r.SentAt), patience
	if r.Trouble.Reason == reason.Refused {
		pause = min(time.Minute<<min(r.Installs, 6), time.Hour)
	}
	switch {
	case r.Taken && o.Request != "" && o.Request != r.Serves:
		// A BMC that has lost the certificate in a reset never serves it.
		anew := r.giveUp(o, "", "")
		anew.Asked, anew.GaveUp = r.Serves, time.Time{}
		return Save{anew, "give up: somebody asks again"}
	case r.Taken && waited < patience:
		return o.stop(restart, reason.ReplacementUnderWay, "waiting for the BMC to serve the new certificate")
	case r.Perhaps && !r.Taken && r.Installs >= mostInstalls && waited < time.Hour:
		return o.stop(time.Hour-waited, reason.NeedsReset, "the BMC may have the new certificate and serves the old one: reset the BMC; it is sent once more in an hour")
	case r.Taken:
		return o.stop(time.Hour, reason.NeedsReset, "the BMC has the new certificate and serves the old one: reset the BMC; the rest is done by itself. If it still serves the old one afterwards, ask again")
	case r.Installs >= mostInstalls && !r.Perhaps:
		return Save{r.giveUp(o, reason.Refused, r.Trouble.Message), "give up: the BMC refuses the certificate"}
	case waited < pause:
		return o.stop(min(restart, pause-waited), reason.ReplacementUnderWay, "waiting for the BMC to serve the new certificate; "+r.Trouble.Message)
	case !o.AtRest:
		return o.stop(0, reason.NotAtRest, "the certificate is sent again when the host is at rest")
	}
	once := r.clone()
	once.Phase = Issued
	return Save{once, "send the certificate once more"}
}

// swap is the step that trusts the new certificate alone.
func swap(o *Observed) Action { return SetTrust{Trust: o.switched(), Then: o.Record.to(Checking)} }

// check is the step that has Ironic reach the BMC.
func check(*Observed) Action { return Prove{} }

// digestOfChain is the digest of the record's leaf.
func (o *Observed) digestOfChain() string {
	if chain, err := ParseChain(o.Record.Chain); err == nil {
		return Digest(chain[0].Raw)
	}
	return ""
}

func (o *Observed) stop(after time.Duration, why reason.Reason, message string) Wait {
	return Wait{For: after, Condition: why.Condition(message)}
}

// Follows reports whether a phase may follow another one, or is the same.
func Follows(before, after Phase) bool {
	return before == after || slices.Contains(phases[before].next, after)
}
