package rotation

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reason is why the condition CredentialsCurrent is as it is.
type Reason string

// The reasons. [Reasons] says what each means.
const (
	ReasonCurrent          Reason = "Current"
	ReasonUnderWay         Reason = "RotationUnderWay"
	ReasonNotAtRest        Reason = "NotAtRest"
	ReasonWaitingForTurn   Reason = "WaitingForTurn"
	ReasonChangeInterval   Reason = "ChangeInterval"
	ReasonSecretMissing    Reason = "SecretMissing"
	ReasonSharedSecret     Reason = "SharedSecret"
	ReasonSharedAccount    Reason = "SharedAccount"
	ReasonManagedSecret    Reason = "ManagedSecret"
	ReasonImmutableSecret  Reason = "ImmutableSecret"
	ReasonUnsupported      Reason = "Unsupported"
	ReasonPolicyInvalid    Reason = "PolicyInvalid"
	ReasonPolicyUnknown    Reason = "PolicyUnknown"
	ReasonPolicyImpossible Reason = "PolicyImpossible"
	ReasonAccountUnknown   Reason = "AccountUnknown"
	ReasonRefused          Reason = "RefusedByBMC"
	ReasonNotKept          Reason = "NotKept"
	ReasonBMCSilent        Reason = "BMCSilent"
	ReasonLockedOut        Reason = "BMCLockedOut"
	ReasonIronicFails      Reason = "IronicFails"
	ReasonReverted         Reason = "Reverted"
	ReasonNeitherHolds     Reason = "NeitherHolds"
	ReasonSecretChanged    Reason = "SecretChanged"
	ReasonRecordUnreadable Reason = "RecordUnreadable"
)

// ReasonInfo describes a reason. docs/rotation.md has this table.
type ReasonInfo struct {
	Reason Reason
	// Status is that of the condition.
	Status metav1.ConditionStatus
	// Means is a sentence, and so is Do: what a person does about it.
	Means, Do string
}

const (
	yes     = metav1.ConditionTrue
	no      = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
)

// Reasons are all reasons.
var Reasons = []ReasonInfo{
	{ReasonCurrent, yes, "The password is as old as it may be, or nobody asks for a change.", "Nothing."},
	{ReasonUnderWay, unknown, "A change is under way; the message names the step.", "Nothing."},
	{ReasonNotAtRest, unknown, "A change is due, and the host is at work.", "Nothing: it begins when the host is at rest."},
	{ReasonWaitingForTurn, unknown, "A change is due, and as many others are under way as may be.", "Nothing."},
	{ReasonChangeInterval, unknown, "A change is due, and the BMC takes none so soon after the last.", "Nothing."},
	{ReasonSecretMissing, unknown, "The host's Secret is missing, or lacks username or password.", "Create it. In the middle of a change the record has the password that works."},
	{ReasonSharedSecret, no, "Other hosts use the same Secret; the message lists them.", "Give each host a Secret of its own."},
	{ReasonSharedAccount, no, "Other hosts use the same account of the same BMC; the message lists them.", "Give each host an account of its own, or change the password by hand."},
	{ReasonManagedSecret, no, "The Secret is rendered from elsewhere and would be put back; the message says by what.", "Take the Secret out of there, or allow the change by the annotation and carry it back yourself."},
	{ReasonImmutableSecret, no, "The Secret is immutable.", "Replace it by one that is not."},
	{ReasonUnsupported, no, "The BMC cannot be asked; the message says why.", "Change the password by hand."},
	{ReasonPolicyInvalid, no, "The policy of the flag or annotation cannot be read.", "Mend it as the message says."},
	{ReasonPolicyUnknown, no, "A change is due, and it is not known what passwords the BMC takes.", "Ask for a change by the annotation, and watch it."},
	{ReasonPolicyImpossible, no, "No password fits both the policy and the BMC.", "Change the policy as the message says."},
	{ReasonAccountUnknown, unknown, "A change is due, and the account cannot be found at the BMC.", "See the BMC's words in the message; it is looked for again."},
	{ReasonRefused, no, "The BMC has refused every new password; the old one holds.", "See the BMC's words in the message; ask again."},
	{ReasonNotKept, no, "The BMC has accepted a new password and kept the old one.", "Update the BMC's firmware, or change the password by hand."},
	{ReasonBMCSilent, unknown, "The BMC does not answer in the middle of a change.", "See that it can be reached; the change goes on by itself."},
	{ReasonLockedOut, unknown, "The BMC refuses every login for a while.", "See who else logs in with a wrong password; the change goes on by itself."},
	{ReasonIronicFails, unknown, "Ironic cannot prove the new password, which we have proven.", "See the message and Ironic's log; both Secrets have the password that works."},
	{ReasonReverted, no, "The password before the last change is back in the host's Secret. Nobody logs in with it.", "Copy the password from the record to where the Secret comes from."},
	{ReasonNeitherHolds, no, "Quarantine: no password that we have works. Nobody logs in.", "Put the right password into the host's Secret."},
	{ReasonSecretChanged, no, "Quarantine: somebody has put a password into the host's Secret that does not work, and the record has one that did. Nobody logs in.", "Copy the password from the record, or set the BMC's and ask for another try."},
	{ReasonRecordUnreadable, no, "The record cannot be read.", "Mend or delete it as the message says."},
}

// statuses is Reasons by reason.
var statuses = func() map[Reason]metav1.ConditionStatus {
	m := make(map[Reason]metav1.ConditionStatus, len(Reasons))
	for _, info := range Reasons {
		m[info.Reason] = info.Status
	}
	return m
}()

// Condition is what the condition CredentialsCurrent shall say.
type Condition struct {
	Status  metav1.ConditionStatus
	Reason  Reason
	Message string
}

// stop ends a pass.
func (o *Observed) stop(after time.Duration, reason Reason, message string) Wait {
	return Wait{For: after, Condition: Condition{Status: statuses[reason], Reason: reason, Message: message}}
}

// recordName is the name of the Secret that holds the record.
func (o *Observed) recordName() string {
	_, name, found := strings.Cut(o.Host, "/")
	if !found {
		name = o.Host
	}
	return RecordName(name)
}
