package certificate

import (
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// The record after something was done in the world.

// Generated is the record of a request that the BMC has made.
func Generated(o *Observed, request []byte) *Record {
	r := o.Record.to(Requested)
	r.clear()
	r.Phase, r.Attempt, r.Request, r.Old, r.Serves = Requested, r.Attempt+1, request, Digest(o.Served.Raw), o.Request
	return r
}

// NotGenerated is the record of a BMC that has made none; never says that it cannot.
func NotGenerated(o *Observed, never bool, message string) *Record {
	if never {
		return o.Record.giveUp(o, reason.Unsupported, message)
	}
	return o.Record.retry(o, reason.BadRequest, "the BMC makes no request: "+message)
}

// Signed is the record of what the issuer has signed, with the authority that vouches
// for it: the issuer may be another one before the BMC serves it.
func Signed(o *Observed, chain, ca []byte) *Record {
	r := o.Record.to(Issued)
	r.Chain, r.CA = chain, ca
	return r
}

// NotSigned is the record of an issuer that has not signed yet, or refuses to.
func NotSigned(o *Observed, pending bool, message string) *Record {
	if pending {
		r := o.Record.clone()
		r.NotBefore, r.Trouble = o.Now.Add(issuerWait), reason.ReplacementUnderWay.Trouble("waiting for issuer "+o.Issuer+" to sign")
		return r
	}
	return o.Record.retry(o, reason.IssuerFails, "issuer "+o.Issuer+" does not sign: "+message)
}

// Sending is the record of a certificate that is being sent, to be stored before it is.
func Sending(o *Observed) *Record {
	r := o.Record.to(Installing)
	r.Installs, r.SentAt = r.Installs+1, o.Now
	return r
}

// Installed is the record after the answer. A refusal is not taken for the end: what is
// served decides.
func Installed(o *Observed, r *Record, answer rotation.Answer, message string) *Record {
	r = r.to(Proving)
	r.SentAt = o.Now
	switch answer {
	case rotation.Accepted:
		r.Taken = true
		return r
	case rotation.NoAnswer:
		r.Perhaps = true
		return r
	case rotation.Refused:
		// BMCs forget the key of a request once its certificate is there.
		r.Taken = r.Taken || r.Perhaps
	default:
	}
	r.Trouble = reason.Refused.Trouble("the BMC does not take the certificate: " + message)
	return r
}

// Proven is the record after Ironic has reached the BMC, or has not.
func Proven(o *Observed, verdict rotation.Verdict, message string) *Record {
	if verdict == rotation.Right {
		return o.Record.finish(o)
	}
	return o.Record.retry(o, reason.IronicFails, "the BMC serves the new certificate, and Ironic does not reach it: "+message)
}
