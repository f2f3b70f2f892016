package certificate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// Phase is how far a replacement is.
type Phase string

// The phases.
const (
	// Rested: nothing is under way.
	Rested Phase = ""
	// Requested: the BMC has made a key, and its request is stored.
	Requested Phase = "Requested"
	// Issued: the issuer's certificate is stored, and trusted beside the old one.
	Issued Phase = "Issued"
	// Installing: the certificate is being sent. Found so, it may have been taken.
	Installing Phase = "Installing"
	// Proving: a handshake is to show it.
	Proving Phase = "Proving"
	// Switching: the BMC serves it, and the old one is trusted still.
	Switching Phase = "Switching"
	// Checking: it is trusted, and Ironic has not reached the BMC with it yet.
	Checking Phase = "Checking"
)

// Record is what is known of a host's replacement. It outlives the program and holds
// no secret.
type Record struct {
	Phase Phase `json:"phase,omitempty"`
	// Attempt counts requests; with the host's name it names one for the issuer.
	Attempt int `json:"attempt,omitempty"`
	// Request is the BMC's (PEM), Chain the issuer's answer (PEM, the leaf first), CA the
	// authority that vouches for it (PEM), and Old the digest of the certificate that was
	// served before.
	Request []byte `json:"-"`
	Chain   []byte `json:"-"`
	CA      []byte `json:"-"`
	Old     string `json:"old,omitempty"`
	// Serves is the value of the annotation when it began.
	Serves string `json:"serves,omitempty"`
	// Installs counts how often the certificate was sent.
	Installs int `json:"installs,omitempty"`
	// Taken says that the BMC has taken it; Perhaps, that it may have.
	Taken   bool `json:"taken,omitempty"`
	Perhaps bool `json:"perhaps,omitempty"`
	// SentAt is when it was sent last.
	SentAt time.Time `json:"sentAt,omitzero"`
	// NotBefore is when to try again; Failures counts what failed in a row.
	NotBefore time.Time `json:"notBefore,omitzero"`
	Failures  int       `json:"failures,omitempty"`
	// Trouble is the last failure, for people.
	Trouble reason.Trouble `json:"trouble,omitzero"`
	// Asked is the value of the annotation that is, or was last, served.
	Asked string `json:"asked,omitempty"`
	// Installed is the digest of the certificate that was installed last.
	Installed string    `json:"installed,omitempty"`
	Replaced  time.Time `json:"replaced,omitzero"`
	GaveUp    time.Time `json:"gaveUp,omitzero"`
}

// UnderWay reports a replacement that has begun and is carried on whatever the flags say.
func (r *Record) UnderWay() bool { return r.Phase != Rested }

const (
	stateKey   = "state"
	requestKey = "request.pem"
	chainKey   = "certificate.pem"
	caKey      = "issuer.crt"
)

// RecordName is the name of the object that holds a host's record.
func RecordName(host string) string { return host + "-bmc-certificate" }

// Encode gives the data of the object that holds a record.
func Encode(r *Record) (map[string][]byte, error) {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the record of a certificate: %w", err)
	}
	data := map[string][]byte{stateKey: raw}
	for key, value := range map[string][]byte{requestKey: r.Request, chainKey: r.Chain, caKey: r.CA} {
		if len(value) > 0 {
			data[key] = value
		}
	}
	return data, nil
}

// Decode reads the data of the object that holds a record. What cannot be read is a new
// record: unlike a password, a certificate can be made anew.
func Decode(data map[string][]byte) *Record {
	r := &Record{}
	if err := json.Unmarshal(data[stateKey], r); err != nil {
		return &Record{}
	}
	r.Request, r.Chain, r.CA = data[requestKey], data[chainKey], data[caKey]
	row, known := phases[r.Phase]
	if !known || row.request && len(r.Request) == 0 || row.chain && (len(r.Chain) == 0 || len(r.CA) == 0) {
		return &Record{Attempt: r.Attempt, Asked: r.Asked, Installed: r.Installed}
	}
	return r
}

func (r *Record) clone() *Record {
	c := *r
	return &c
}

// to goes on to a phase.
func (r *Record) to(phase Phase) *Record {
	r = r.clone()
	r.Phase, r.NotBefore, r.Failures, r.Trouble = phase, time.Time{}, 0, reason.Trouble{}
	return r
}

// retry stays in a phase after a failure: after a minute, twice as long after each
// further one, an hour at most.
func (r *Record) retry(o *Observed, why reason.Reason, message string) *Record {
	r = r.clone()
	r.Failures++
	r.NotBefore = o.Now.Add(min(time.Minute<<min(r.Failures-1, 6), time.Hour))
	r.Trouble = reason.Trouble{Reason: why, Message: message}
	return r
}

// giveUp ends a replacement; the old certificate is served.
func (r *Record) giveUp(o *Observed, why reason.Reason, message string) *Record {
	r = r.clone()
	r.clear()
	r.Trouble, r.GaveUp, r.Asked = reason.Trouble{Reason: why, Message: message}, o.Now, o.Request
	return r
}

// finish ends a replacement that has worked.
func (r *Record) finish(o *Observed) *Record {
	r = r.clone()
	r.Installed, r.Replaced, r.GaveUp, r.Asked = o.digestOfChain(), o.Now, time.Time{}, o.Request
	r.clear()
	return r
}

// clear drops what belongs to one replacement.
func (r *Record) clear() {
	r.Phase, r.Request, r.Chain, r.CA, r.Old, r.Serves = Rested, nil, nil, nil, "", ""
	r.Installs, r.Taken, r.Perhaps, r.SentAt = 0, false, false, time.Time{}
	r.Failures, r.NotBefore, r.Trouble = 0, time.Time{}, reason.Trouble{}
}
