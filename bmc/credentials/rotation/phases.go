package rotation

import "slices"

// Phase is how far a rotation is. It is written before and after each effect in the
// world, so that whoever comes next knows what may have happened.
type Phase string

// The phases.
const (
	// Rested: nothing is under way.
	Rested Phase = ""
	// Staged: the new password is stored and was not sent.
	Staged Phase = "Staged"
	// Setting: the new password is being sent. Found so, it may have been set.
	Setting Phase = "Setting"
	// Finding: which password holds is found out by logging in.
	Finding Phase = "Finding"
	// Promoting: the new password holds, and the host's Secret has the old one.
	Promoting Phase = "Promoting"
	// Telling: the host's Secret has the new password, and Ironic's node has the old one.
	Telling Phase = "Telling"
	// Checking: Ironic was told, and has not proven it.
	Checking Phase = "Checking"
	// Quarantined: no stored password holds. A person decides.
	Quarantined Phase = "Quarantined"
)

// phase is a row of the table.
type phase struct {
	// step decides what is next.
	step func(*Observed) Action
	// next are the phases that may follow.
	next []Phase
	// needs are the passwords that the record has then.
	needs []Role
	// stored says which stored passwords may hold, and does what the next pass does
	// after we were killed here; both for the documentation.
	stored, does string
}

// phases is the whole machine. It is filled in by init, because steps refer to it.
var phases map[Phase]phase

func init() {
	phases = map[Phase]phase{
		Rested: {
			step: begin, next: []Phase{Staged, Finding},
			stored: "the one in the host's Secret, with a copy in the record",
			does:   "waits until a change is due or asked for, checks that it may be made, stores a new password",
		},
		Staged: {
			step: send, next: []Phase{Setting, Rested}, needs: []Role{Next, Current},
			stored: "the old one",
			does:   "sends the new password to the BMC; gives up if the host or its Secret is in use by now",
		},
		Setting: {
			step: interrupted, next: []Phase{Staged, Finding}, needs: []Role{Next, Current},
			stored: "the old or the new one",
			does:   "waits a minute, so that a late change is done, and finds out",
		},
		Finding: {
			step: find, next: []Phase{Staged, Promoting, Rested, Quarantined}, needs: []Role{Current},
			stored: "the old or the new one",
			does:   "logs in with the one that is likely, then with the other, once each, the lock-out window between",
		},
		Promoting: {
			step: promote, next: []Phase{Telling, Finding}, needs: []Role{Next, Current},
			stored: "the new one, in the record",
			does:   "writes it to the host's Secret, unless somebody has changed that meanwhile",
		},
		Telling: {
			step: tell, next: []Phase{Checking, Rested}, needs: []Role{Next, Current},
			stored: "the new one, in both Secrets",
			does:   "gives it to Ironic's node",
		},
		Checking: {
			step: check, next: []Phase{Telling, Finding, Rested}, needs: []Role{Next, Current},
			stored: "the new one, in both Secrets",
			does:   "has Ironic read from the BMC with it, then drops the old one",
		},
		Quarantined: {
			step: quarantined, next: []Phase{Finding}, needs: []Role{Current},
			stored: "none, as far as is known",
			does:   "nothing, until the Secret changes or somebody asks for another try",
		},
	}
}

// Follows reports whether a phase may follow another one, or is the same. A record that
// breaks the table is not written: what it says would be true of nothing.
func Follows(before, after Phase) bool {
	return before == after || slices.Contains(phases[before].next, after)
}
