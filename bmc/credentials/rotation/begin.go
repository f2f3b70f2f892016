package rotation

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// trigger is why a change is begun.
type trigger int

const (
	none trigger = iota
	scheduled
	demanded
	asked
)

// retryFailed is how long a change that the BMC has refused is left alone, unless
// somebody asks for it.
const retryFailed = 24 * time.Hour

// begin is the step at rest.
func begin(o *Observed) Action {
	if o.Leaving {
		return o.stop(0, reason.Current, o.currentText(0))
	}
	if !o.Secret.Found || !o.Secret.Login.usable() {
		return o.stop(0, reason.SecretMissing, "the Secret "+o.Secret.Name+" does not exist, or lacks username or password")
	}
	why, wait := o.trigger()
	if action := foreign(o); action != nil {
		return action
	}
	if why == none {
		if failed := o.Record.Trouble; failed.Reason != "" {
			return o.stop(wait, failed.Reason, failed.Message)
		}
		return o.stop(wait, reason.Current, o.currentText(wait))
	}
	for _, obstacle := range obstacles {
		if message, after, there := obstacle.there(o, why); there {
			return o.stop(after, obstacle.reason, message)
		}
	}
	recipe, problem := o.plan()
	if problem != "" {
		return o.stop(0, reason.PolicyImpossible, problem)
	}
	if r := o.Record; o.Now.Before(r.NotBefore) {
		return o.stop(r.NotBefore.Sub(o.Now), r.Trouble.Reason, r.Trouble.Message)
	}
	return Stage{recipe}
}

// NotFound is the record of a host whose account cannot be found at the BMC. Whoever
// looked may have been refused: the next look waits for the lock-out window at least.
func NotFound(o *Observed, message string) *Record {
	r := o.Record.clone()
	r.retry(o, Rested, reason.AccountUnknown, "the account of the BMC cannot be found: "+message)
	r.NotBefore = later(r.NotBefore, o.Now.Add(o.Limits.Window))
	return r
}

// Unwelcome is the record of a host whose BMC has refused the password of its Secret
// before a change of ours had begun. One refusal proves nothing with some BMCs; what is
// found out in the end may be a quarantine.
func Unwelcome(o *Observed) *Record {
	r := o.Record.at(o)
	if old := r.candidate(Current); old == nil || old.Login != o.Secret.Login {
		r.put(Candidate{Role: Current, Login: o.Secret.Login})
	}
	r.candidate(Current).Proved = time.Time{}
	r.candidate(Current).Refused = 1
	r.Phase, r.Secret, r.Holds, r.Wrongs, r.Attempt, r.Trouble = Finding, o.Secret.Name, "", 1, 0, reason.Trouble{}
	r.NotBefore = o.Now.Add(o.Limits.Window)
	return r
}

// Turn is the end of a pass that must go on with a change, while another host changes
// the same BMC.
func Turn(o *Observed) Wait {
	return o.stop(turnWait, reason.WaitingForTurn, "another host changes the password of the same BMC")
}

// plan is what a new password is made of, or why there can be none.
func (o *Observed) plan() (recipe password.Recipe, problem string) {
	recipe, err := password.Plan(o.Policy, o.Limits)
	if err != nil {
		return recipe, err.Error()
	}
	return recipe, ""
}

// trigger is why a change is due, or how long until one is; 0 for never.
func (o *Observed) trigger() (trigger, time.Duration) {
	if o.asked() {
		return asked, 0
	}
	if o.Every <= 0 {
		return none, 0
	}
	why, due := scheduled, Due(o.Host, o.last(), o.Every)
	if o.Demanded {
		why, due = demanded, o.Now
	}
	if !o.Record.GaveUp.IsZero() {
		if again := o.Record.GaveUp.Add(retryFailed); again.After(due) {
			due = again
		}
	}
	if o.Now.Before(due) {
		return none, due.Sub(o.Now)
	}
	return why, 0
}

// asked reports a request that was not dealt with.
func (o *Observed) asked() bool { return o.Request != "" && o.Request != o.Record.Request }

func (o *Observed) currentText(wait time.Duration) string {
	text := "the password was not changed by us yet"
	if !o.Record.Rotated.IsZero() {
		text = "the password was changed at " + o.Record.Rotated.UTC().Format(time.RFC3339)
	}
	if wait > 0 {
		text += "; the next change is due at " + o.Now.Add(wait).UTC().Format(time.RFC3339)
	}
	return text
}

// foreign deals with a Secret that has not what we put there; nil is for one that has.
// The word of whoever has changed it is not enough to drop the copy: a login proves it.
func foreign(o *Observed) Action {
	r, copied := o.Record, o.Record.candidate(Current)
	switch {
	case copied == nil || copied.Login == o.Secret.Login:
		return nil
	case !r.isFormer(o.Secret.Login):
		return Save{r.at(o).with(o.Secret.Login), "somebody has changed the password in the host's Secret: find out whether it holds"}
	case o.again():
		return Save{r.at(o).with(o.Secret.Login), "somebody asks for another try: find out whether the former password holds"}
	}
	return o.stop(0, reason.Reverted, "the password before the last change is back in the Secret "+o.Secret.Name+
		", and the BMC has the new one: copy it from the key "+string(Current)+" of the Secret "+o.recordName()+" to where the Secret comes from")
}

// obstacle is one thing that may keep a change from being made.
type obstacle struct {
	reason reason.Reason
	// there says so, and when to look again; 0 when a change of what it is about
	// wakes the host.
	there func(o *Observed, why trigger) (message string, after time.Duration, there bool)
}

// obstacles are in the order in which they are told: what a person has to mend first.
var obstacles = []obstacle{
	{reason.Unsupported, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		return o.Unsupported, 0, o.Unsupported != ""
	}},
	// With a shared Secret the other hosts would be left with a password that is wrong.
	{reason.SharedSecret, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		return fmt.Sprintf("the Secret %s is used by other hosts too: %s; give each host a Secret of its own",
			o.Secret.Name, strings.Join(o.Sharers, ", ")), 0, len(o.Sharers) > 0
	}},
	// The same through Secrets of their own: a chassis has one BMC for several systems.
	{reason.SharedAccount, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		return fmt.Sprintf("the account %q of this BMC is used by other hosts too: %s; give each host an account of its own",
			o.Secret.Login.Username, strings.Join(o.Neighbours, ", ")), 0, len(o.Neighbours) > 0
	}},
	{reason.ImmutableSecret, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		return "the Secret " + o.Secret.Name + " is immutable: replace it by one that is not", 0, o.Secret.Immutable
	}},
	{reason.ManagedSecret, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		return fmt.Sprintf("the Secret %s is rendered by %s, which would put the old password back: take it out of there, "+
				"or allow it by the annotation %s: \"true\" on the Secret and carry each new password back yourself",
				o.Secret.Name, o.Secret.Manager, names.RotateManagedSecret),
			0, o.Secret.Manager != "" && !o.Secret.ManagerAllowed
	}},
	{reason.PolicyInvalid, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		return o.PolicyProblem, 0, o.PolicyProblem != ""
	}},
	// Nobody watches a change by schedule: without the BMC's rules it is a guess, and a
	// fleet of the same model would make the same wrong one. Whoever asks, watches.
	{reason.PolicyUnknown, func(o *Observed, why trigger) (string, time.Duration, bool) {
		return "it is not known what passwords this BMC takes: ask for a change by the annotation " + names.RotateCredentials + ", and watch it",
			0, !o.Limits.Known && why != asked
	}},
	{reason.ChangeInterval, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		again := o.Record.Rotated.Add(o.Limits.Interval)
		return "this BMC takes no other change before " + again.UTC().Format(time.RFC3339), again.Sub(o.Now),
			!o.Record.Rotated.IsZero() && o.Now.Before(again)
	}},
	{reason.NotAtRest, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		return "the password is changed when the host is at rest", 0, !o.AtRest
	}},
	{reason.WaitingForTurn, func(o *Observed, _ trigger) (string, time.Duration, bool) {
		return "the passwords of other hosts are being changed", turnWait, !o.Turn
	}},
}

// turnWait is how long a host waits before it asks for its turn again.
const turnWait = 30 * time.Second

// rounds make it dear to guess a former password, which may be in use elsewhere.
const rounds = 20000

// digest tells a password that was dropped without keeping it.
func digest(p client.Secret, salt []byte) []byte {
	sum, err := pbkdf2.Key(sha256.New, string(p), salt, rounds, sha256.Size)
	if err != nil {
		return nil // a salt that is too short for the rules of FIPS: nothing is recognised
	}
	return sum
}

// isFormer reports the login before the last change.
func (r *Record) isFormer(l Login) bool {
	if len(r.Former) == 0 || len(r.Salt) == 0 {
		return false
	}
	return subtle.ConstantTimeCompare(digest(l.Password, r.Salt), r.Former) == 1
}
