package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/condition"
)

// Condition is one observation about a cluster, in the form that Hive reads.
type Condition struct {
	// Type names the observation, one of the Condition constants.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// LastProbeTime is when the condition was last observed.
	// +optional
	LastProbeTime metav1.Time `json:"lastProbeTime,omitempty"`
	// LastTransitionTime is when Status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// Reason is the cause; some reasons of the contract hold blanks.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is for people.
	// +optional
	Message string `json:"message,omitempty"`
}

// Condition types of an AgentClusterInstall.
const (
	ConditionSpecSynced                        = "SpecSynced"
	ConditionRequirementsMet                   = "RequirementsMet"
	ConditionValidated                         = "Validated"
	ConditionCompleted                         = "Completed"
	ConditionFailed                            = "Failed"
	ConditionStopped                           = "Stopped"
	ConditionLastInstallationPreparationFailed = "LastInstallationPreparationFailed"
)

// Conditions of ours: the first three are what tools that do not know the kind read (kstatus).
const (
	// ConditionReady is True when there is nothing left to do of what the spec asks for.
	ConditionReady = "Ready"
	// ConditionReconciling is True while something goes on, or is waited for.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when nothing goes on without a person.
	ConditionStalled = "Stalled"
	// ConditionOperatorsAvailable is there while operators of the cluster are followed.
	ConditionOperatorsAvailable = "OperatorsAvailable"
)

// Reasons of AgentClusterInstall conditions.
const (
	ReasonSyncOK                     = "SyncOK"
	ReasonBackendError               = "BackendError"
	ReasonInputError                 = "InputError"
	ReasonInsufficientAgents         = "InsufficientAgents"
	ReasonUnsyncedAgents             = "UnsyncedAgents"
	ReasonUnapprovedAgents           = "UnapprovedAgents"
	ReasonClusterIsReady             = "ClusterIsReady"
	ReasonClusterNotReady            = "ClusterNotReady"
	ReasonClusterAlreadyInstalling   = "ClusterAlreadyInstalling"
	ReasonClusterInstallationStopped = "ClusterInstallationStopped"
	ReasonValidationsPassing         = "ValidationsPassing"
	ReasonValidationsFailing         = "ValidationsFailing"
	ReasonValidationsUserPending     = "ValidationsUserPending"
	ReasonValidationsUnknown         = "ValidationsUnknown"
	ReasonInstallationCompleted      = "InstallationCompleted"
	ReasonInstallationFailed         = "InstallationFailed"
	ReasonInstallationNotFailed      = "InstallationNotFailed"
	ReasonInstallationNotStarted     = "InstallationNotStarted"
	ReasonInstallationNotStopped     = "InstallationNotStopped"
	ReasonInstallationOnHold         = "InstallationOnHold"
	ReasonInstallationInProgress     = "InstallationInProgress"
	ReasonInstallationCancelled      = "InstallationCancelled"
	ReasonPreparationFailed          = "The last installation preparation failed"
	ReasonPreparationNotFailed       = "There is no failing prior preparation attempt"
	ReasonPreparationNever           = "Cluster preparation has never been performed for this cluster"
	ReasonUnknownStatus              = "UnknownStatus"
	ReasonNotAvailable               = "NotAvailable"
	// ReasonHostsInstalled and ReasonCredentialsNotStored are ours: the hosts are installed, but the
	// hub has no credentials of a cluster that runs on them; it has, and they cannot be put in a Secret.
	ReasonHostsInstalled       = "HostsInstalled"
	ReasonCredentialsNotStored = "CredentialsNotStored"
	// ReasonWaitingForUser, ReasonFinalizing and ReasonOperatorFailed are ours: a person is waited for at a
	// host; what runs inside the cluster comes up; one of its operators says that it has failed.
	ReasonWaitingForUser        = "WaitingForUser"
	ReasonFinalizing            = "Finalizing"
	ReasonOperatorFailed        = "OperatorFailed"
	ReasonOperatorsAvailable    = "OperatorsAvailable"
	ReasonOperatorsNotAvailable = "OperatorsNotAvailable"
)

// Fields implements condition.Pointer.
func (c *Condition) Fields() condition.Fields {
	return condition.Fields{
		Type: &c.Type, Status: &c.Status, Reason: &c.Reason, Message: &c.Message,
		Observed: &c.LastProbeTime, Transition: &c.LastTransitionTime,
	}
}

// SetCondition puts c into conditions by its type and reports whether anything
// but times changed. The transition time moves only with the status.
func SetCondition(conditions *[]Condition, c Condition, now metav1.Time) bool {
	return condition.Set(conditions, c, now)
}

// FindCondition returns the condition of that type, or nil.
func FindCondition(conditions []Condition, conditionType string) *Condition {
	return condition.Find(conditions, conditionType)
}
