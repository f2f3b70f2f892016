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
	{Current, yes, Either, "It is as new as it has to be, or nobody asks for a change.", "Nothing."},
	{NoIssuer, yes, Certificate, "No issuer is named.", "Nothing."},
	{RotationUnderWay, unknown, Password, "A change is under way; the message names the step.", "Nothing."},
	{ReplacementUnderWay, unknown, Certificate, "A replacement is under way; the message names what it waits for.", "Nothing."},
	{NotAtRest, unknown, Either, "A change is due, and the host is at work.", "Nothing: it begins when the host is at rest."},
	{WaitingForTurn, unknown, Either, "A change is due, and as many others are under way as may be.", "Nothing."},
	{ChangeInterval, unknown, Password, "A change is due, and the BMC takes none so soon after the last.", "Nothing."},
	{SecretMissing, unknown, Password, "The host's Secret is missing, or lacks username or password.", "Create it. In the middle of a change the record has the password that works."},
	{SharedSecret, no, Password, "Other hosts use the same Secret; the message lists them.", "Give each host a Secret of its own."},
	{SharedAccount, no, Password, "Other hosts use the same account of the same BMC; the message lists them.", "Give each host an account of its own, or change the password by hand."},
	{ManagedSecret, no, Password, "The Secret is rendered from elsewhere and would be put back; the message says by what.", "Take the Secret out of there, or allow the change by the annotation and carry it back yourself."},
	{ImmutableSecret, no, Password, "The Secret is immutable.", "Replace it by one that is not."},
	{Unsupported, no, Either, "The BMC cannot be asked; the message says why.", "Make the change by hand."},
	{IronicRefuses, no, Certificate, "Ironic checks certificates and does not know the issuer's authority.", "Make the conductors trust it, and say so by the flag."},
	{PolicyInvalid, no, Password, "The policy of the flag or annotation cannot be read.", "Mend it as the message says."},
	{PolicyUnknown, no, Password, "A change is due, and it is not known what passwords the BMC takes.", "Ask for a change by the annotation, and watch it."},
	{PolicyImpossible, no, Password, "No password fits both the policy and the BMC.", "Change the policy as the message says."},
	{AccountUnknown, unknown, Password, "A change is due, and the account cannot be found at the BMC.", "See the BMC's words in the message; it is looked for again."},
	{BadRequest, no, Certificate, "The BMC makes no request, or one that nobody should sign.", "See the message; update the BMC's firmware."},
	{IssuerFails, no, Certificate, "The issuer does not sign.", "See the message and what the flag of the issuer names."},
	{WrongCertificate, no, Certificate, "The issuer's certificate would lock everybody out, and was not sent.", "Mend the issuer as the message says."},
	{Refused, no, Either, "The BMC has refused what is new, and keeps the old.", "See the BMC's words in the message; ask again."},
	{NotKept, no, Password, "The BMC has accepted a new password and kept the old one.", "Update the BMC's firmware, or change the password by hand."},
	{NeedsReset, no, Certificate, "The BMC has taken the certificate and goes on with the old one.", "Reset the BMC; the rest is done by itself."},
	{BMCSilent, unknown, Either, "The BMC does not answer when a change is due, or in the middle of one.", "See that it can be reached; the change goes on by itself."},
	{LockedOut, unknown, Password, "The BMC refuses every login for a while.", "See who else logs in with a wrong password; the change goes on by itself."},
	{IronicFails, unknown, Either, "Ironic cannot log in with what is new, which we have proven.", "See the message and Ironic's log; it is tried again. A certificate's issuer must be trusted by the conductors."},
	{AnotherBMC, no, Password, "The host was given another BMC in the middle of a change; nobody logs in there.", "See the message: put the address back until the change is over, or say by the annotation that it is the same BMC."},
	{Reverted, no, Password, "The password before the last change is back in the host's Secret. Nobody logs in with it.", "Copy the password from the record to where the Secret comes from."},
	{NeitherHolds, no, Password, "Quarantine: no password that we have works. Nobody logs in.", "Put the right password into the host's Secret."},
	{SecretChanged, no, Password, "Quarantine: somebody has put a password into the host's Secret that does not work, and the record has one that did. Nobody logs in.", "Copy the password from the record, or set the BMC's and ask for another try."},
	{Foreign, no, Certificate, "Somebody else has replaced the certificate meanwhile.", "Mend what the BMC is trusted by, or ask again."},
	{RecordUnreadable, no, Password, "The record cannot be read.", "Mend or delete it as the message says."},
}

// statuses is [All] by reason.
var statuses = func() map[Reason]metav1.ConditionStatus {
	m := make(map[Reason]metav1.ConditionStatus, len(All))
	for _, info := range All {
		m[info.Reason] = info.Status
	}
	return m
}()
