package rotation

import (
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// at is the record with the BMC that the host has now. What was asked for before is
// no answer to a question that comes later.
func (r *Record) at(o *Observed) *Record {
	r = r.clone()
	r.BMC, r.Retry = o.BMC, o.Retry
	return r
}

// moved is for a host that was given another BMC in the middle of a change: what the
// record knows is true of the one before, and another one may lock its account over
// it, or have another user at the account's path. Nil is for all else.
func moved(o *Observed) Action {
	r := o.Record
	if r.BMC.Base == "" || r.BMC.Base == o.BMC.Base {
		return nil
	}
	switch r.Phase {
	case Staged:
		return Save{r.abandon(o, reason.Trouble{}), "give up: the host has another BMC, and nothing was sent"}
	case Setting, Finding, Promoting:
	default:
		return nil
	}
	if o.again() {
		return Save{r.at(o), "somebody says that it is the same BMC at another address"}
	}
	return o.stop(0, reason.AnotherBMC, "spec.bmc.address of the host has changed from "+r.BMC.Address+
		" in the middle of a change of the password there, which is under a key of the Secret "+o.recordName()+": put that address back until the change is over; if it is the same BMC, give the host a new value of the annotation "+names.Retry)
}

// Needed reports a record that has what the host's Secret has not: a password that the
// BMC has, or may have. Such a record outlives its host.
func (r *Record) Needed(secret Secret) bool {
	if r.UnderWay() {
		return true
	}
	current := r.candidate(Current)
	return current != nil && secret.Found && secret.Login.usable() && current.Login != secret.Login
}
