package rotation

import (
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// find is the step that finds out which password holds.
func find(o *Observed) Action {
	r := o.Record
	if given := o.newlyGiven(); given != nil {
		return Save{r.with(*given), "somebody has changed the password in the host's Secret: find out whether it holds"}
	}
	given := r.candidate(Given)
	asked := given != nil && given.Login == o.Secret.Login
	switch {
	case r.Holds == Given:
		return Save{r.adopt(o), "done: the password that somebody put into the host's Secret holds"}
	case r.Holds == "" || asked: // to be tried
	case r.Holds == Current:
		return notApplied(o)
	default:
		return Save{r.promoting(), "the new password holds"}
	}
	role := r.pick(o)
	switch {
	case role == "":
		return Save{r.quarantine(o), "quarantine: no stored password holds"}
	case o.Now.Before(r.NotBefore):
		return o.stop(r.NotBefore.Sub(o.Now), reason.RotationUnderWay, o.findingText())
	}
	login, _ := r.Login(role)
	return Try{Role: role, Login: login}
}

func (o *Observed) findingText() string {
	text := "finding out which password the BMC has, with the lock-out window between two logins"
	if trouble := o.Record.Trouble; trouble.Reason == reason.BMCSilent || trouble.Reason == reason.LockedOut {
		text += "; " + trouble.Message
	}
	return text
}

// newlyGiven is a login of the host's Secret that the record does not have.
func (o *Observed) newlyGiven() *Login {
	if !o.Secret.Found || !o.Secret.Login.usable() {
		return nil
	}
	for _, c := range o.Record.Candidates {
		if c.Login == o.Secret.Login {
			return nil
		}
	}
	return &o.Secret.Login
}

// pick is the password to log in with next; empty when nothing is left to try. Each is
// tried once. One whose answer was lost is tried again, after the others. So is the new
// one if the BMC has accepted it, and yet refused it and then the old one too: it was
// late. That makes three wrong logins at most, each the lock-out window after the last.
func (r *Record) pick(o *Observed) Role {
	order := []Role{Given, Next, Current}
	if r.Sent == Refused {
		order = []Role{Given, Current, Next}
	}
	if next := r.candidate(Next); r.Holds != "" || next != nil && !next.Proved.IsZero() {
		order = []Role{Given} // what holds was found out before
	}
	budget := r.Bold || r.Wrongs < o.Limits.Wrong
	spare := r.earlier()
	rules := []func(c *Candidate, extra bool) bool{
		func(c *Candidate, extra bool) bool { return c.untried() && (!extra || budget) },
		func(c *Candidate, _ bool) bool { return !c.Open && c.Refused > 0 && c.Refused < o.Limits.Refusals },
		func(c *Candidate, _ bool) bool { return c.unanswered() && c.Refused < o.Limits.Refusals },
		func(c *Candidate, _ bool) bool {
			return c.Role == Next && (r.Sent == Accepted || r.Sent == NoAnswer && budget) && c.Refused == o.Limits.Refusals && !c.Open
		},
	}
	for _, fits := range rules {
		for i, role := range append(order, spare...) {
			if c := r.candidate(role); c != nil && c.Proved.IsZero() && fits(c, i >= len(order)) {
				return role
			}
		}
	}
	return ""
}

// mostDoublings bounds how the wait grows after logins whose answers were lost.
const mostDoublings = 4

// Trying is the record of a login that begins, to be stored before it does: a program
// that is killed in between must not log in again at once.
func Trying(o *Observed, r *Record, role Role) *Record {
	r = r.clone()
	c := r.candidate(role)
	if c.Open {
		c.Lost++
	}
	c.Open = true
	r.Wrongs++
	r.NotBefore = o.Now.Add(o.Limits.Window << min(c.Lost, mostDoublings))
	return r
}

// Tried is the record after the answer to a login. The message is without secrets.
func Tried(o *Observed, r *Record, role Role, verdict Verdict, message string) *Record {
	r = r.clone()
	c := r.candidate(role)
	c.Open = false
	switch verdict {
	case Right:
		c.Refused, c.Lost, c.Proved = 0, 0, o.Now
		r.Holds, r.Wrongs, r.Failures, r.NotBefore = role, 0, 0, time.Time{}
	case Wrong:
		c.Refused++
		r.Failures = 0
	case Locked:
		r.Wrongs--
		r.hold(o, reason.LockedOut, "the BMC refuses every login for a while: "+message)
	default:
		r.Wrongs--
		r.hold(o, reason.BMCSilent, "the BMC does not answer a login: "+message)
	}
	return r
}

// hold waits after a login that says nothing about the password, for the lock-out
// window at least: the BMC may have counted it.
func (r *Record) hold(o *Observed, why reason.Reason, message string) {
	window := r.NotBefore
	r.retry(o, r.Phase, why, message)
	r.NotBefore = later(window, r.NotBefore)
}

// notApplied is for a BMC that still has the old password.
func notApplied(o *Observed) Action {
	r := o.Record
	switch {
	case r.Attempt == 0 || r.candidate(Next) == nil:
		return Save{r.abandon(o, reason.Trouble{}), "done: the password of the record holds"}
	case r.Attempt >= attempts:
		return Save{r.abandon(o, r.outcome()), "give up: the BMC keeps the old password"}
	case !o.AtRest:
		// The request stays: it is served when the host is at rest.
		return Save{r.abandon(o, reason.Trouble{}), "give up for now: the BMC has the old password, and the host is at work"}
	}
	recipe, problem := o.plan()
	if problem != "" {
		return Save{r.abandon(o, reason.PolicyImpossible.Trouble(problem)), "give up: no other password can be made"}
	}
	proved := r.candidate(Current).Proved
	if again := proved.Add(backOff(r.Attempt)); o.Now.Before(again) {
		return o.stop(again.Sub(o.Now), reason.RotationUnderWay, "another password is tried soon; "+r.outcome().Message)
	}
	return Stage{recipe}
}

// with is the record with a login that somebody has put into the host's Secret, and
// that is to be found out about.
func (r *Record) with(given Login) *Record {
	r = r.clone()
	if old := r.candidate(Given); old != nil && old.Login != given {
		r.drop(Given)
	}
	r.put(Candidate{Role: Given, Login: given})
	r.Phase, r.Holds = Finding, ""
	return r
}

// adopt ends everything: somebody's own password holds, and we keep no copy of others.
func (r *Record) adopt(o *Observed) *Record {
	r = r.clone()
	login, _ := r.Login(Given)
	r.rest()
	r.Candidates = []Candidate{{Role: Current, Login: login, Proved: o.Now}}
	r.Rotated, r.Request, r.Retry = o.Now, o.Request, o.Retry
	r.Former, r.Salt = nil, nil
	return r
}

// promoting is the record of a new password that holds. It may be that of an earlier
// attempt, which came true late.
func (r *Record) promoting() *Record {
	r = r.clone()
	if role := r.Holds; role != Next {
		late := *r.candidate(role)
		r.drop(role)
		if next := r.candidate(Next); next != nil {
			r.keep(next.Login)
		}
		late.Role = Next
		r.put(late)
	}
	r.Phase, r.Holds, r.Trouble, r.NotBefore = Promoting, "", reason.Trouble{}, time.Time{}
	return r
}

// quarantine ends all logins until somebody acts.
func (r *Record) quarantine(o *Observed) *Record {
	r = r.clone()
	r.Phase, r.Retry = Quarantined, o.Retry
	var tried, untried []string
	for _, c := range r.Candidates {
		switch {
		case !c.Proved.IsZero() && c.Role != Given:
			r.Trouble = reason.SecretChanged.Trouble("the password that somebody put into the Secret " + o.Secret.Name +
				" does not work; the one that was proven last is under the key " + string(c.Role) + " of the Secret " + o.recordName() +
				": copy it, or set the password at the BMC and give the host a new value of the annotation " + names.Retry)
			return r
		case c.Refused > 0 || c.Open || c.Lost > 0:
			tried = append(tried, string(c.Role))
		default:
			untried = append(untried, string(c.Role))
		}
	}
	text := "the BMC refuses the passwords that we have (" + strings.Join(tried, ", ") + "), somebody has changed it: nobody logs in until the right one is in the Secret " +
		o.Secret.Name + ", or until the host gets a new value of the annotation " + names.Retry
	if len(untried) > 0 {
		text += ", which has those tried too that a lock-out forbids now (" + strings.Join(untried, ", ") + ")"
	}
	r.Trouble = reason.NeitherHolds.Trouble(text)
	return r
}

// again reports a request for another try that was not dealt with.
func (o *Observed) again() bool { return o.Retry != "" && o.Retry != o.Record.Retry }

// quarantined is the step of a host whose password nobody knows.
func quarantined(o *Observed) Action {
	r := o.Record
	if given := o.newlyGiven(); given != nil {
		return Save{r.at(o).with(*given).waiting(o), "somebody has changed the password in the host's Secret: find out whether it holds"}
	}
	if o.again() || o.putBack() {
		next := r.at(o).waiting(o)
		next.Phase, next.Retry, next.Holds, next.Wrongs, next.Bold = Finding, o.Retry, "", 0, true
		if given := next.candidate(Given); given != nil && given.Login != o.Secret.Login {
			next.drop(Given)
		}
		for i := range next.Candidates {
			c := &next.Candidates[i]
			*c = Candidate{Role: c.Role, Login: c.Login}
		}
		return Save{next, "somebody asks for another try: find out which password holds"}
	}
	return o.stop(0, r.Trouble.Reason, r.Trouble.Message)
}

// putBack reports that somebody did as the message says: the Secret has a password of
// the record that was not refused.
func (o *Observed) putBack() bool {
	for _, c := range o.Record.Candidates {
		if c.Login == o.Secret.Login {
			return c.Refused == 0 && !c.Open
		}
	}
	return false
}

// waiting keeps the lock-out window of the last login.
func (r *Record) waiting(o *Observed) *Record {
	r.NotBefore = later(r.NotBefore, o.Now)
	r.Trouble = reason.Trouble{}
	return r
}
