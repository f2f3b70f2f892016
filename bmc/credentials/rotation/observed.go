package rotation

import (
	"strings"
	"time"

	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
)

// Secret is the host's Secret as it was read.
type Secret struct {
	// Name is what spec.bmc.credentialsName says.
	Name string
	// Found says that it exists.
	Found bool
	// Login is its content, without white space around.
	Login Login
	// Version is its resource version: it is written only while that holds.
	Version string
	// Immutable is its own field of that name.
	Immutable bool
	// Written is when it was created.
	Written time.Time
	// Manager names who renders it from elsewhere; see [ManagerOf].
	Manager string
	// ManagerAllowed says that a person has allowed rotation all the same.
	ManagerAllowed bool
}

// Observed is all that a decision knows.
type Observed struct {
	Now time.Time
	// Host is the host's namespace and name, with a slash between.
	Host string
	// Record is the stored one; RecordProblem says why it cannot be read.
	Record        *Record
	RecordProblem string
	Secret        Secret
	// BMC is the host's.
	BMC Place
	// Leaving says that the host is being deleted, or is gone: nothing is begun.
	Leaving bool
	// Sharers are other hosts with the same Secret.
	Sharers []string
	// Neighbours are other hosts with the same account at the same BMC.
	Neighbours []string
	// AtRest says that neither Ironic nor we are doing anything with the machine.
	AtRest bool
	// Unsupported says why the BMC cannot be asked at all, as for an ipmi address.
	Unsupported string
	// Every is the time between two changes; 0: on request only.
	Every time.Duration
	// Request is the value of the annotation that asks for a change; each new value is
	// another request.
	Request string
	// Retry is the value of the host's annotation ironflow.io/retry.
	Retry string
	// Demanded says that the BMC does nothing before its password is changed.
	Demanded bool
	// Policy, and PolicyProblem if what the user wrote is none.
	Policy        password.Policy
	PolicyProblem string
	Limits        password.Limits
	// Turn says that there is a place among the rotations that run at once.
	Turn bool
}

// Action is one thing to do. The concrete types below are all of them.
type Action interface {
	// Name is the action in words, for logs and tests.
	Name() string
}

type (
	// Wait is the end of a pass.
	Wait = reason.Wait
	// Stage makes a password of the recipe and stores it: see [Staging].
	Stage struct{ Recipe password.Recipe }
	// Send notes that the password is being sent ([Sending]), sends it, and notes the
	// answer ([WasSent]).
	Send struct{ Login, New Login }
	// Try notes that a login begins ([Trying]), makes it, and notes the answer ([Tried]).
	Try struct {
		Role  Role
		Login Login
	}
	// Promote writes a login to the host's Secret if its version still is that one.
	Promote struct {
		Login   Login
		Version string
	}
	// Tell gives Ironic's node a login.
	Tell struct{ Login Login }
	// Prove has Ironic read from the BMC, and notes the answer ([Proven]).
	Prove struct{}
	// Save writes the record; that is all there is to do.
	Save struct {
		Record *Record
		What   string
	}
)

// Name implements [Action].
func (Stage) Name() string { return "store a new password" }

// Name implements [Action].
func (Send) Name() string { return "send the new password" }

// Name implements [Action].
func (t Try) Name() string { return "log in with the " + string(t.Role) + " password" }

// Name implements [Action].
func (Promote) Name() string { return "write the new password to the host's Secret" }

// Name implements [Action].
func (Tell) Name() string { return "give the new password to Ironic" }

// Name implements [Action].
func (Prove) Name() string { return "have Ironic prove the new password" }

// Name implements [Action].
func (s Save) Name() string { return s.What }

// stop ends a pass.
func (o *Observed) stop(after time.Duration, why reason.Reason, message string) Wait {
	return Wait{For: after, Condition: why.Condition(message)}
}

// recordName is the name of the Secret that holds the record.
func (o *Observed) recordName() string {
	_, name, found := strings.Cut(o.Host, "/")
	if !found {
		name = o.Host
	}
	return RecordName(name)
}

// Decide says what to do now. It is a function of its argument alone.
func Decide(o *Observed) Action {
	if o.RecordProblem != "" {
		return o.stop(0, reason.RecordUnreadable, "the Secret "+o.recordName()+" cannot be read: "+o.RecordProblem+
			"; it may hold the only copy of a password: correct it, or delete it once the password in the host's Secret is known to work")
	}
	if action := moved(o); action != nil {
		return action
	}
	return phases[o.Record.Phase].step(o)
}
