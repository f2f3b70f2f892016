package certificate

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Reason is why the condition CertificateCurrent is as it is.
type Reason string

// The reasons. [Reasons] says what each means.
const (
	ReasonCurrent          Reason = "Current"
	ReasonNoIssuer         Reason = "NoIssuer"
	ReasonUnderWay         Reason = "ReplacementUnderWay"
	ReasonNotAtRest        Reason = "NotAtRest"
	ReasonWaiting          Reason = "WaitingForTurn"
	ReasonSilent           Reason = "BMCSilent"
	ReasonUnsupported      Reason = "Unsupported"
	ReasonIronicRefuses    Reason = "IronicWouldRefuse"
	ReasonBadRequest       Reason = "BadRequest"
	ReasonIssuerFails      Reason = "IssuerFails"
	ReasonWrongCertificate Reason = "WrongCertificate"
	ReasonRefused          Reason = "RefusedByBMC"
	ReasonNeedsReset       Reason = "NeedsReset"
	ReasonForeign          Reason = "ForeignCertificate"
	ReasonIronicFails      Reason = "IronicFails"
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
	{ReasonCurrent, yes, "The certificate is the issuer's and good for long enough, or nobody asks for another.", "Nothing."},
	{ReasonNoIssuer, yes, "No issuer is named.", "Nothing."},
	{ReasonUnderWay, unknown, "A replacement is under way; the message names what it waits for.", "Nothing."},
	{ReasonNotAtRest, unknown, "A replacement is due, and the host is at work.", "Nothing: it begins when the host is at rest."},
	{ReasonWaiting, unknown, "A replacement is due, and as many changes are under way as may be.", "Nothing."},
	{ReasonSilent, unknown, "The BMC shows no certificate.", "See that it can be reached."},
	{ReasonUnsupported, no, "The BMC cannot do it; the message says why.", "Replace the certificate by hand."},
	{ReasonIronicRefuses, no, "Ironic checks certificates and does not know the issuer's authority.", "Make the conductors trust it."},
	{ReasonBadRequest, no, "The BMC makes no request, or one that nobody should sign.", "See the message; update the BMC's firmware."},
	{ReasonIssuerFails, no, "The issuer does not sign.", "See the message and the issuer's own status."},
	{ReasonWrongCertificate, no, "The issuer's certificate would lock everybody out, and was not sent.", "Mend the issuer as the message says."},
	{ReasonRefused, no, "The BMC does not take the certificate, and serves the old one.", "See the BMC's words in the message."},
	{ReasonNeedsReset, no, "The BMC has taken the certificate and goes on with the old one.", "Reset the BMC; the rest is done by itself."},
	{ReasonForeign, no, "Somebody else has replaced the certificate meanwhile.", "Mend what the BMC is trusted by, or ask again."},
	{ReasonIronicFails, no, "The new certificate is served, and Ironic does not reach the BMC.", "Make the conductors trust the issuer's authority; it is tried again."},
}

// statuses is Reasons by reason.
var statuses = func() map[Reason]metav1.ConditionStatus {
	m := make(map[Reason]metav1.ConditionStatus, len(Reasons))
	for _, info := range Reasons {
		m[info.Reason] = info.Status
	}
	return m
}()
