package reason

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reason is why a condition is as it is.
type Reason string

// Reasons of both conditions.
const (
	Current        Reason = "Current"
	NotAtRest      Reason = "NotAtRest"
	WaitingForTurn Reason = "WaitingForTurn"
	BMCSilent      Reason = "BMCSilent"
	Unsupported    Reason = "Unsupported"
	Refused        Reason = "RefusedByBMC"
	IronicFails    Reason = "IronicFails"
)

// Reasons of CredentialsCurrent alone.
const (
	RotationUnderWay Reason = "RotationUnderWay"
	ChangeInterval   Reason = "ChangeInterval"
	SecretMissing    Reason = "SecretMissing"
	SharedSecret     Reason = "SharedSecret"
	SharedAccount    Reason = "SharedAccount"
	ManagedSecret    Reason = "ManagedSecret"
	ImmutableSecret  Reason = "ImmutableSecret"
	PolicyInvalid    Reason = "PolicyInvalid"
	PolicyUnknown    Reason = "PolicyUnknown"
	PolicyImpossible Reason = "PolicyImpossible"
	AccountUnknown   Reason = "AccountUnknown"
	NotKept          Reason = "NotKept"
	LockedOut        Reason = "BMCLockedOut"
	AnotherBMC       Reason = "AnotherBMC"
	Reverted         Reason = "Reverted"
	NeitherHolds     Reason = "NeitherHolds"
	SecretChanged    Reason = "SecretChanged"
	RecordUnreadable Reason = "RecordUnreadable"
)

// Reasons of CertificateCurrent alone.
const (
	NoIssuer            Reason = "NoIssuer"
	ReplacementUnderWay Reason = "ReplacementUnderWay"
	IronicRefuses       Reason = "IronicWouldRefuse"
	BadRequest          Reason = "BadRequest"
	IssuerFails         Reason = "IssuerFails"
	WrongCertificate    Reason = "WrongCertificate"
	NeedsReset          Reason = "NeedsReset"
	Foreign             Reason = "ForeignCertificate"
)

// Condition is what a condition shall say.
type Condition struct {
	Status  metav1.ConditionStatus
	Reason  Reason
	Message string
}

// Condition is that of the reason, with its status.
func (r Reason) Condition(message string) Condition {
	return Condition{Status: statuses[r], Reason: r, Message: message}
}

// Wait is the end of a pass: an action of both packages. For is how long; 0 waits for
// somebody.
type Wait struct {
	For       time.Duration
	Condition Condition
}

// Name is the action in words, for logs and tests.
func (Wait) Name() string { return "wait" }

// Trouble is a failure as a record keeps it for a condition.
type Trouble struct {
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Trouble is a failure of the reason.
func (r Reason) Trouble(message string) Trouble { return Trouble{Reason: r, Message: message} }
