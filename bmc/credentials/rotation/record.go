package rotation

import (
	"time"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// Login is a user's name with a password.
type Login struct {
	Username string
	Password client.Secret
}

// usable reports whether both parts are there.
func (l Login) usable() bool { return l.Username != "" && l.Password != "" }

// Role is what a password of a record is.
type Role string

// The roles. What was next in earlier attempts is kept as earlier-1, earlier-2 …
const (
	// Next is the new password.
	Next Role = "next"
	// Current is the one that was proven last.
	Current Role = "current"
	// Given is one that somebody put into the host's Secret meanwhile.
	Given Role = "given"
)

// Candidate is a password that the BMC may have, and what became of logins with it.
type Candidate struct {
	Role Role `json:"role"`
	// Login is kept apart from the record's other values.
	Login Login `json:"-"`
	// Refused counts the logins that the BMC has refused.
	Refused int `json:"refused,omitempty"`
	// Open says that a login has begun whose answer is not recorded: we were killed.
	Open bool `json:"open,omitempty"`
	// Lost counts the logins before that one whose answers are not known.
	Lost int `json:"lost,omitempty"`
	// Proved is when the BMC took it.
	Proved time.Time `json:"proved,omitzero"`
}

// untried reports a password of which nothing is known.
func (c *Candidate) untried() bool { return !c.Open && c.Refused == 0 && c.Lost == 0 }

// unanswered reports a password with which we have logged in without learning anything.
func (c *Candidate) unanswered() bool { return c.Open || c.Lost > 0 }

// Route is the way on which the BMC takes a new password.
type Route string

// The routes.
const (
	// ByAccount changes the account.
	ByAccount Route = ""
	// ByAttributes changes the vendor's attributes: iDRAC refuses all else while it
	// demands a change.
	ByAttributes Route = "attributes"
)

// Answer is what came of sending a new password.
type Answer string

// The answers.
const (
	// NotSent: the request never reached the account. The password may be sent again.
	NotSent Answer = "NotSent"
	// Accepted: the BMC says that it has changed it, which proves nothing.
	Accepted Answer = "Accepted"
	// Refused: the BMC says that it has not.
	Refused Answer = "Refused"
	// Unauthorized: the current password is wrong.
	Unauthorized Answer = "Unauthorized"
	// LockedOut: the BMC does not listen to us for a while; nothing was changed.
	LockedOut Answer = "LockedOut"
	// NoAnswer: the request was sent and may have worked.
	NoAnswer Answer = "NoAnswer"
)

// Verdict is what came of a login.
type Verdict string

// The verdicts.
const (
	// Right: the BMC took it.
	Right Verdict = "Right"
	// Wrong: the BMC refused user name or password.
	Wrong Verdict = "Wrong"
	// Locked: the BMC refuses every login for a while.
	Locked Verdict = "Locked"
	// Unsure: there was no answer that says anything about the password.
	Unsure Verdict = "Unsure"
)

// Place says where a BMC is, and what else is needed to reach it again without its host.
type Place struct {
	// Address is the host's spec.bmc.address, Base what tells BMCs apart in it.
	Address string `json:"address,omitempty"`
	Base    string `json:"base,omitempty"`
	// Insecure says that its certificate is not checked.
	Insecure bool `json:"insecure,omitempty"`
}

// Record is what is known of a host's rotation. It outlives the program.
type Record struct {
	Phase Phase `json:"phase,omitempty"`
	// Secret is the name of the host's Secret.
	Secret string `json:"secret,omitempty"`
	// BMC is the one whose password is changed.
	BMC Place `json:"bmc,omitzero"`
	// Account is the path of the account at the BMC.
	Account string `json:"account,omitempty"`
	Route   Route  `json:"route,omitempty"`
	// Attempt counts the passwords of this rotation.
	Attempt int `json:"attempt,omitempty"`
	// Candidates are the passwords, each role once.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Sent is what came of the last attempt, and Said what the BMC said to it.
	Sent Answer `json:"sent,omitempty"`
	Said string `json:"said,omitempty"`
	// Holds is the password that was found to hold, while that decides what is next.
	Holds Role `json:"holds,omitempty"`
	// NotBefore is when the next login or attempt may be made.
	NotBefore time.Time `json:"notBefore,omitzero"`
	// Wrongs counts logins in a row that were refused, or whose answer is not known.
	Wrongs int `json:"wrongs,omitempty"`
	// Bold says that a person has asked for another try: passwords of earlier attempts
	// are tried too, whatever the lock-out allows without.
	Bold bool `json:"bold,omitempty"`
	// Doubted says that what Ironic was refused with was found out about once more.
	Doubted bool `json:"doubted,omitempty"`
	// Failures counts what failed in a row for other reasons.
	Failures int `json:"failures,omitempty"`
	// Trouble is the last failure, for people.
	Trouble reason.Trouble `json:"trouble,omitzero"`
	// Request is the value of the annotation that is, or was last, served.
	Request string `json:"request,omitempty"`
	// Retry is the last value of the annotation ironflow.io/retry that was dealt with.
	Retry string `json:"retry,omitempty"`
	// Rotated is when the password was changed last; GaveUp when that failed last.
	Rotated time.Time `json:"rotated,omitzero"`
	GaveUp  time.Time `json:"gaveUp,omitzero"`
	// Salt and Former tell the password before the current one when it comes back.
	Salt   []byte `json:"salt,omitempty"`
	Former []byte `json:"former,omitempty"`
}

// UnderWay reports a rotation that has begun: it must be carried on, also when
// rotation is switched off, and the host must not be let go of before.
func (r *Record) UnderWay() bool { return r.Phase != Rested }

// Login is the login of a role; found is false when the record has none.
func (r *Record) Login(role Role) (login Login, found bool) {
	if c := r.candidate(role); c != nil {
		return c.Login, true
	}
	return Login{}, false
}

// candidate is the candidate of a role, nil for none.
func (r *Record) candidate(role Role) *Candidate {
	for i := range r.Candidates {
		if r.Candidates[i].Role == role {
			return &r.Candidates[i]
		}
	}
	return nil
}

// clone is a copy that shares nothing that is changed.
func (r *Record) clone() *Record {
	c := *r
	c.Candidates = append([]Candidate(nil), r.Candidates...)
	return &c
}
