package rotation

import (
	"fmt"
	"time"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// attempts is how many new passwords are sent in one rotation. A BMC refuses one for
// what it holds against it, and takes the next.
const attempts = 3

// Staging is the record of a rotation whose next password is this one, to be stored
// before anything is sent.
func Staging(o *Observed, next client.Secret, account string, route Route, salt []byte) *Record {
	r := o.Record.clone()
	if r.Phase == Rested {
		r.Attempt = 0
		if old := r.candidate(Current); old != nil && old.Login != o.Secret.Login {
			r.keep(old.Login)
		}
		r.put(Candidate{Role: Current, Login: o.Secret.Login})
		r.drop(Given)
	}
	if tried := r.candidate(Next); tried != nil {
		r.keep(tried.Login)
	}
	current, _ := r.Login(Current)
	r.put(Candidate{Role: Current, Login: current})
	r.put(Candidate{Role: Next, Login: Login{Username: current.Username, Password: next}})
	r.Phase, r.Attempt, r.Secret, r.Account, r.Route = Staged, r.Attempt+1, o.Secret.Name, account, route
	r.BMC, r.Retry = o.BMC, o.Retry
	r.Sent, r.Said, r.Holds, r.Failures, r.Wrongs, r.Salt = "", "", "", 0, 0, salt
	r.Trouble, r.GaveUp, r.NotBefore, r.Bold = reason.Trouble{}, time.Time{}, time.Time{}, false
	return r
}

// send is the step of a password that was stored and not sent.
func send(o *Observed) Action {
	r := o.Record
	current, _ := r.Login(Current)
	next, _ := r.Login(Next)
	switch {
	case o.Leaving:
		return Save{r.abandon(o, reason.Trouble{}), "give up: the host is being deleted, and nothing was sent"}
	case o.Secret.Found && o.Secret.Login != current:
		return Save{r.abandon(o, reason.Trouble{}), "give up: somebody has changed the Secret, and nothing was sent"}
	case !o.Secret.Found:
		return o.stop(0, reason.SecretMissing, "the Secret "+o.Secret.Name+" does not exist any more, and nothing was sent")
	case len(o.Sharers) > 0 || len(o.Neighbours) > 0 || o.Secret.Manager != "" && !o.Secret.ManagerAllowed:
		return Save{r.abandon(o, reason.Trouble{}), "give up: the Secret is not ours to change any more, and nothing was sent"}
	case o.Now.Before(r.NotBefore):
		return o.stop(r.NotBefore.Sub(o.Now), o.troubleOr(reason.RotationUnderWay), r.Trouble.Message)
	case !o.AtRest:
		return o.stop(0, reason.NotAtRest, "a new password is stored, and is sent when the host is at rest")
	}
	return Send{Login: current, New: next}
}

// Sending is the record of a password that is being sent, to be stored before it is.
func Sending(r *Record) *Record {
	r = r.clone()
	r.Phase, r.Sent, r.NotBefore = Setting, "", time.Time{}
	return r
}

// WasSent is the record after an answer. The message is the BMC's, without secrets.
func WasSent(o *Observed, r *Record, answer Answer, message string) *Record {
	r = r.clone()
	r.Sent, r.Said, r.Phase = answer, message, Finding
	switch answer {
	case NotSent:
		r.retry(o, Staged, reason.BMCSilent, "the BMC cannot be asked to change the password: "+message)
		return r
	case LockedOut:
		r.retry(o, Staged, reason.LockedOut, "the BMC refuses every login for a while: "+message)
		r.NotBefore = later(r.NotBefore, o.Now.Add(o.Limits.Window))
		return r
	case Accepted:
		r.NotBefore = o.Now.Add(o.Limits.Settle)
	case Refused:
		r.NotBefore = o.Now
	case Unauthorized:
		r.Wrongs++
		c := r.candidate(Current)
		if c.Refused++; c.Refused < o.Limits.Refusals {
			r.retry(o, Staged, reason.RotationUnderWay, "the BMC refuses the old password, as this kind does now and then with a right one: "+message)
			return r
		}
		r.NotBefore = o.Now.Add(o.Limits.Window)
	default:
		r.NotBefore = o.Now.Add(lateChange)
	}
	r.Failures, r.Trouble = 0, reason.Trouble{}
	return r
}

// outcome is what a BMC that has kept the old password did with the new one.
func (r *Record) outcome() reason.Trouble {
	switch r.Sent {
	case Accepted:
		return reason.NotKept.Trouble("the BMC has accepted a new password and kept the old one: update its firmware, or change the password by hand")
	case Refused:
		return reason.Refused.Trouble("the BMC refuses the new password, and keeps the old one: " + r.Said)
	case Unauthorized:
		return reason.Refused.Trouble("the BMC has refused the old password when it was to be changed, and takes it otherwise: " + r.Said)
	default:
		return reason.NotKept.Trouble("the BMC has not answered the change of its password, and keeps the old one: " + r.Said)
	}
}

// lateChange is how long a BMC may take to do what it has not answered.
const lateChange = time.Minute

// interrupted is the step of a record that was left while the password was sent.
func interrupted(o *Observed) Action {
	return Save{WasSent(o, o.Record, NoAnswer, "this program ended before the answer"), "find out whether the password that was being sent holds"}
}

// retry goes back to a phase after a failure that says nothing about passwords, after
// a minute, twice as long after each further one, an hour at most.
func (r *Record) retry(o *Observed, phase Phase, why reason.Reason, message string) {
	r.Phase, r.Failures = phase, r.Failures+1
	r.NotBefore = o.Now.Add(backOff(r.Failures))
	r.Trouble = reason.Trouble{Reason: why, Message: message}
}

// backOff is the wait after a number of failures in a row.
func backOff(failures int) time.Duration {
	return min(time.Minute<<min(max(failures-1, 0), 6), time.Hour)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// troubleOr is the reason of the last failure, or another one.
func (o *Observed) troubleOr(why reason.Reason) reason.Reason {
	if o.Record.Trouble.Reason != "" {
		return o.Record.Trouble.Reason
	}
	return why
}

// abandon ends a rotation without a change. What was sent is kept: nobody can be sure
// that it will never hold. What was not sent is dropped.
func (r *Record) abandon(o *Observed, why reason.Trouble) *Record {
	r = r.clone()
	if tried := r.candidate(Next); tried != nil && r.Phase != Staged {
		r.keep(tried.Login)
	}
	r.drop(Next)
	r.drop(Given)
	r.rest()
	r.Trouble = why
	if why.Reason != "" {
		r.GaveUp, r.Request = o.Now, o.Request
	}
	return r
}

// rest clears what belongs to one rotation.
func (r *Record) rest() {
	r.Phase, r.Sent, r.Said, r.Holds, r.Route, r.Attempt, r.Wrongs, r.Failures = Rested, "", "", "", ByAccount, 0, 0, 0
	r.NotBefore, r.Trouble, r.Doubted, r.Bold = time.Time{}, reason.Trouble{}, false, false
	for i := range r.Candidates {
		c := &r.Candidates[i]
		*c = Candidate{Role: c.Role, Login: c.Login, Proved: c.Proved}
	}
}

// put sets the candidate of its role.
func (r *Record) put(c Candidate) {
	if old := r.candidate(c.Role); old != nil {
		*old = c
		return
	}
	r.Candidates = append(r.Candidates, c)
}

// drop takes the candidate of a role away.
func (r *Record) drop(role Role) {
	kept := r.Candidates[:0:0]
	for _, c := range r.Candidates {
		if c.Role != role {
			kept = append(kept, c)
		}
	}
	r.Candidates = kept
}

// mostKept bounds the passwords of earlier attempts.
const mostKept = 6

// keep adds a login to those of earlier attempts, newest first, each once.
func (r *Record) keep(login Login) {
	logins := []Login{login}
	for _, c := range r.Candidates {
		if isEarlier(c.Role) && c.Login != login {
			logins = append(logins, c.Login)
		}
	}
	for _, role := range r.earlier() {
		r.drop(role)
	}
	for i, l := range logins[:min(len(logins), mostKept)] {
		r.put(Candidate{Role: Role(fmt.Sprintf("earlier-%d", i+1)), Login: l})
	}
}

// earlier are the roles of earlier attempts.
func (r *Record) earlier() (roles []Role) {
	for _, c := range r.Candidates {
		if isEarlier(c.Role) {
			roles = append(roles, c.Role)
		}
	}
	return roles
}

func isEarlier(role Role) bool { return role != Next && role != Current && role != Given }
