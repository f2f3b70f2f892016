package reason

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Info describes a reason. docs/rotation.md has this table.
type Info struct {
	Reason Reason
	// Status is that of the condition.
	Status metav1.ConditionStatus
	// Of says whose reason it is.
	Of Subject
	// Means is a sentence, and so is Do: what a person does about it.
	Means, Do string
}

// Subject is what is changed: one of the two, or either.
type Subject int

// The subjects.
const (
	Either Subject = iota
	Password
	Certificate
)

// Has reports a reason that a subject's condition can have.
func (i Info) Has(s Subject) bool { return i.Of == Either || i.Of == s }

const (
	yes     = metav1.ConditionTrue
	no      = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
)

// All are all reasons.
var All = []Info{
	{Current, yes, Either, "It is current, or no change was requested.", "Nothing."},
	{NoIssuer, yes, Certificate, "No issuer is configured.", "Nothing."},
	{RotationUnderWay, unknown, Password, "A change is under way; the message names the step.", "Nothing."},
	{ReplacementUnderWay, unknown, Certificate, "A replacement is under way; the message names what it waits for.", "Nothing."},
	{NotAtRest, unknown, Either, "A change is due, but the host is at work.", "Nothing: it begins when the host is at rest."},
	{WaitingForTurn, unknown, Either, "A change is due, but the maximum number of changes is under way.", "Nothing."},
	{ChangeInterval, unknown, Password, "A change is due, but the BMC accepts none so soon after the last one.", "Nothing."},
	{SecretMissing, unknown, Password, "The host's Secret is missing, or lacks username or password.", "Create it. During a change, the record has the password that works."},
	{SharedSecret, no, Password, "Other hosts use the same Secret; the message lists them.", "Give each host a Secret of its own."},
	{SharedAccount, no, Password, "Other hosts use the same account of the same BMC; the message lists them.", "Give each host an account of its own, or change the password by hand."},
	{ManagedSecret, no, Password, "Another program writes the Secret, and would restore the old password; the message says which.", "Remove the Secret from that program, or allow the change by the annotation and copy new passwords to its source yourself."},
	{ImmutableSecret, no, Password, "The Secret is immutable.", "Replace it by a Secret that is not immutable."},
	{Unsupported, no, Either, "The BMC does not support this; the message says why.", "Make the change by hand."},
	{IronicRefuses, no, Certificate, "Ironic verifies certificates, and does not trust the issuer's CA.", "Make the conductors trust it, then set the flag that says so."},
	{PolicyInvalid, no, Password, "The policy of the flag or annotation cannot be read.", "Correct it as the message says."},
	{PolicyUnknown, no, Password, "A change is due, but it is not known which passwords the BMC accepts.", "Request a change by the annotation, and watch it."},
	{PolicyImpossible, no, Password, "No password fits both the policy and the BMC.", "Change the policy as the message says."},
	{AccountUnknown, unknown, Password, "A change is due, but the account cannot be found at the BMC.", "See the answer of the BMC in the message; Ironflow looks for the account again."},
	{BadRequest, no, Certificate, "The BMC makes no signing request, or one that must not be signed.", "See the message; update the BMC's firmware."},
	{IssuerFails, no, Certificate, "The issuer does not sign.", "See the message, and the folder that the flag names."},
	{WrongCertificate, no, Certificate, "The issuer's certificate would lock everybody out, so it was not sent.", "Correct the issuer as the message says."},
	{Refused, no, Either, "The BMC has refused the new password or certificate, and keeps the old one.", "See the answer of the BMC in the message; then request the change again."},
	{NotKept, no, Password, "The BMC has accepted a new password and kept the old one.", "Update the BMC's firmware, or change the password by hand."},
	{NeedsReset, no, Certificate, "The BMC has accepted the certificate, but still uses the old one.", "Reset the BMC; the rest is done automatically."},
	{BMCSilent, unknown, Either, "The BMC does not answer when a change is due, or during a change.", "Check that it can be reached; the change goes on by itself."},
	{LockedOut, unknown, Password, "The BMC refuses all logins for some time, because of wrong ones.", "Find out who else logs in with a wrong password; the change goes on by itself."},
	{IronicFails, unknown, Either, "Ironic cannot log in with the new password, or verify the new certificate, although Ironflow can.", "See the message and Ironic's log; it is tried again. A certificate's issuer must be trusted by the conductors."},
	{AnotherBMC, no, Password, "The host was given another BMC during a change; Ironflow does not log in there.", "See the message: put the address back until the change is finished, or say by the annotation that it is the same BMC."},
	{Reverted, no, Password, "The host's Secret has the password from before the last change again. Ironflow does not log in with it.", "Copy the password from the record to where the Secret comes from."},
	{NeitherHolds, no, Password, "Quarantine: no password that Ironflow knows works. Ironflow does not log in.", "Put the right password into the host's Secret."},
	{SecretChanged, no, Password, "Quarantine: somebody has put a password into the host's Secret that does not work; the record has one that did. Ironflow does not log in.", "Copy the password from the record; or set the password of the BMC, and request another attempt."},
	{Foreign, no, Certificate, "Somebody else has replaced the certificate meanwhile.", "Correct the CA or pin by which the BMC is verified, or ask again."},
	{RecordUnreadable, no, Password, "The record cannot be read.", "Correct or delete it as the message says."},
}

// statuses is [All] by reason.
var statuses = func() map[Reason]metav1.ConditionStatus {
	m := make(map[Reason]metav1.ConditionStatus, len(All))
	for _, info := range All {
		m[info.Reason] = info.Status
	}
	return m
}()
