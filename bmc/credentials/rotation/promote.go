package rotation

import (
	"strings"
	"time"

	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// promote is the step of a new password that holds and stands in the record alone.
func promote(o *Observed) Action {
	r := o.Record
	next, _ := r.Login(Next)
	current, _ := r.Login(Current)
	switch {
	case !o.Secret.Found:
		return o.stop(0, reason.SecretMissing, "the Secret "+o.Secret.Name+" does not exist any more: the BMC's password is under the key "+
			string(Next)+" of the Secret "+o.recordName())
	case o.Secret.Login == next:
		return Save{r.to(Telling), "the host's Secret has the new password"}
	case o.Secret.Login == current && len(o.Sharers) > 0:
		// Theirs would be gone with the old password: this may be the only copy of it.
		return o.stop(0, reason.SharedSecret, "the Secret "+o.Secret.Name+" is used by other hosts too since the change began: "+strings.Join(o.Sharers, ", ")+
			"; give each host a Secret of its own; until then the password of this BMC is under the key "+string(Next)+" of the Secret "+o.recordName())
	case o.Secret.Login == current && o.Secret.Immutable:
		return o.stop(0, reason.ImmutableSecret, "the Secret "+o.Secret.Name+" is immutable since the change began: replace it by one that is not, with the same content; the BMC's password is under the key "+
			string(Next)+" of the Secret "+o.recordName())
	case o.Secret.Login == current:
		return Promote{Login: next, Version: o.Secret.Version}
	}
	return Save{r.with(o.Secret.Login), "somebody has changed the password in the host's Secret: find out whether it holds"}
}

// tell is the step that gives Ironic's node what the host's Secret has.
func tell(o *Observed) Action {
	if action := overtaken(o); action != nil {
		return action
	}
	login, _ := o.Record.Login(Next)
	return Tell{login}
}

// check is the step that has Ironic prove it.
func check(o *Observed) Action {
	if action := overtaken(o); action != nil {
		return action
	}
	return Prove{}
}

// overtaken is for a Secret that somebody has changed after we did, and for a failure
// that is not to be repeated yet. What to do about the change is decided at rest.
func overtaken(o *Observed) Action {
	r := o.Record
	if next, _ := r.Login(Next); o.Secret.Found && o.Secret.Login != next {
		return Save{r.finish(o), "done: the new password holds; somebody has changed the host's Secret again"}
	}
	if o.Now.Before(r.NotBefore) {
		return o.stop(r.NotBefore.Sub(o.Now), o.troubleOr(reason.RotationUnderWay), r.Trouble.Message)
	}
	return nil
}

// WasTold is the record after Ironic was given the new password; the message says why
// it has not taken it, empty if it has.
func WasTold(o *Observed, r *Record, message string) *Record {
	r = r.clone()
	if message != "" {
		r.retry(o, Telling, reason.IronicFails, "Ironic does not take the new password: "+message)
		return r.soon(o)
	}
	return r.to(Checking)
}

// Proven is the record after Ironic has read from the BMC with the new password, or
// has not. A host without a node has nothing to prove.
func Proven(o *Observed, r *Record, verdict Verdict, message string) *Record {
	r = r.clone()
	switch verdict {
	case Right:
		return r.finish(o)
	case Wrong, Locked:
		if verdict == Wrong && r.Failures > 0 && !r.Doubted {
			return r.doubt(o)
		}
		r.retry(o, Telling, reason.IronicFails, "Ironic is refused by the BMC with the new password, which works for us: "+message)
		r.NotBefore = later(r.NotBefore, o.Now.Add(o.Limits.Window))
	default:
		r.retry(o, Telling, reason.IronicFails, "Ironic cannot prove the new password: "+message)
		return r.soon(o)
	}
	return r
}

// mostIronic bounds the wait for an Ironic that does not answer. It may not have been told
// yet, and goes on trying the password before meanwhile.
const mostIronic = 2 * time.Minute

// soon bounds the wait of a record.
func (r *Record) soon(o *Observed) *Record {
	if latest := o.Now.Add(mostIronic); r.NotBefore.After(latest) {
		r.NotBefore = latest
	}
	return r
}

// doubt finds out once more which password holds: Ironic was refused twice with one
// that had worked, so that somebody may have changed it since.
func (r *Record) doubt(o *Observed) *Record {
	r = r.clone()
	for i := range r.Candidates {
		c := &r.Candidates[i]
		*c = Candidate{Role: c.Role, Login: c.Login}
	}
	r.Phase, r.Doubted, r.Failures, r.Trouble = Finding, true, 0, reason.Trouble{}
	r.NotBefore = o.Now.Add(o.Limits.Window)
	return r
}

// to goes on to a phase; failures of the one before are over, unless it comes back.
func (r *Record) to(phase Phase) *Record {
	r = r.clone()
	r.Phase, r.NotBefore = phase, time.Time{}
	return r
}

// finish ends a rotation: the new password becomes the current one, and everything
// else is dropped.
func (r *Record) finish(o *Observed) *Record {
	r = r.clone()
	next, current := *r.candidate(Next), r.candidate(Current)
	if len(r.Salt) > 0 {
		r.Former = digest(current.Login.Password, r.Salt)
	}
	r.rest()
	r.Candidates = []Candidate{{Role: Current, Login: next.Login, Proved: next.Proved}}
	r.Rotated, r.GaveUp, r.Request, r.Retry = o.Now, time.Time{}, o.Request, o.Retry
	return r
}

// MayLogin says whether anybody of us may log in at the BMC with the login that the
// host's Secret has, and why not. Whoever reads from BMCs asks before it opens a
// session: a wrong login in the middle of a change, or in quarantine, locks the account.
func MayLogin(r *Record, secret Login) (why string, may bool) {
	role := Current
	switch r.Phase {
	case Setting, Finding, Promoting:
		return "the BMC's password is being changed", false
	case Quarantined:
		return r.Trouble.Message, false
	case Telling, Checking:
		role = Next
	default:
	}
	if known := r.candidate(role); known != nil && known.Login != secret {
		return "the host's Secret has another password than the one that was proven last", false
	}
	return "", true
}
