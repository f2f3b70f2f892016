package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/condition"
)

// Condition is one observation about an object. The heartbeat time is part of
// the contract, but is not renewed while nothing changes.
type Condition struct {
	// Type names the observation, one of the Condition constants.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// Reason is the cause in one word; some reasons of the contract hold blanks.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is for people.
	// +optional
	Message string `json:"message,omitempty"`
	// LastHeartbeatTime is when the condition was last observed.
	// +optional
	LastHeartbeatTime metav1.Time `json:"lastHeartbeatTime,omitempty"`
	// LastTransitionTime is when Status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

// Condition types of an Agent.
const (
	ConditionSpecSynced      = "SpecSynced"
	ConditionConnected       = "Connected"
	ConditionRequirementsMet = "RequirementsMet"
	ConditionValidated       = "Validated"
	ConditionInstalled       = "Installed"
	ConditionBound           = "Bound"
	ConditionCleanup         = "Cleanup"
)

// ConditionImageCreated is the condition type of an InfraEnv.
const ConditionImageCreated = "ImageCreated"

// ConditionStaticNetworks is the condition type of an InfraEnv that selects NMStateConfigs:
// True when each of its hosts has the network that was written for it. It is none of the
// contract's; those who only know the contract read over it.
const ConditionStaticNetworks = "StaticNetworks"

// Reasons of the condition StaticNetworks.
const (
	// ReasonNetworksTaken means that all are in the images.
	ReasonNetworksTaken = "NetworksTaken"
	// ReasonNetworksLeftOut means that some are not; the message names them.
	ReasonNetworksLeftOut = "NetworksLeftOut"
	// ReasonNoNetworkSelected means that the selector finds none.
	ReasonNoNetworkSelected = "NoNetworkSelected"
)

// ConditionQueryErrors is the condition type of an AgentClassification.
const ConditionQueryErrors = "QueryErrors"

// Reasons of Agent conditions.
const (
	ReasonSyncOK                     = "SyncOK"
	ReasonBackendError               = "BackendError"
	ReasonInputError                 = "InputError"
	ReasonAgentIsConnected           = "AgentIsConnected"
	ReasonAgentIsDisconnected        = "AgentIsDisconnected"
	ReasonAgentIsReady               = "AgentIsReady"
	ReasonAgentIsNotApproved         = "AgentIsNotApproved"
	ReasonAgentNotReady              = "AgentNotReady"
	ReasonAgentAlreadyInstalling     = "AgentAlreadyInstalling"
	ReasonAgentInstallationStopped   = "AgentInstallationStopped"
	ReasonValidationsPassing         = "ValidationsPassing"
	ReasonValidationsFailing         = "ValidationsFailing"
	ReasonValidationsUserPending     = "ValidationsUserPending"
	ReasonValidationsUnknown         = "ValidationsUnknown"
	ReasonInstallationCompleted      = "InstallationCompleted"
	ReasonInstallationFailed         = "InstallationFailed"
	ReasonInstallationNotStarted     = "InstallationNotStarted"
	ReasonInstallationInProgress     = "InstallationInProgress"
	ReasonBound                      = "Bound"
	ReasonBinding                    = "Binding"
	ReasonUnbound                    = "Unbound"
	ReasonUnbinding                  = "Unbinding"
	ReasonUnbindingPendingUserAction = "UnbindingPendingUserAction"
	ReasonCleanupFailed              = "CleanupFailed"
	ReasonUnknownStatus              = "UnknownStatus"
	ReasonNotAvailable               = "NotAvailable"
)

// Reasons of InfraEnv and PreprovisioningImage conditions.
const (
	ReasonInfraEnvAvailable                 = "InfraEnvAvailable"
	ReasonImageCreated                      = "ImageCreated"
	ReasonImageCreationError                = "ImageCreationError"
	ReasonMissingClusterDeployment          = "MissingClusterDeployment"
	ReasonUnsupportedImageFormat            = "UnsupportedImageFormat"
	ReasonInfraEnvNotAvailable              = "InfraEnvNotAvailable"
	ReasonInfraEnvArchMismatch              = "InfraEnvArchMismatch"
	ReasonIronicAgentIgnitionUpdateFailure  = "IronicAgentIgnitionUpdateFailure"
	ReasonWaitingForInfraEnvImageToBeMade   = "WaitingForInfraEnvImageToBeCreated"
	ReasonWaitingForInfraEnvImageToCoolDown = "WaitingForInfraEnvImageToCoolDown"
)

// Reasons of AgentClassification conditions.
const (
	ReasonNoQueryErrors  = "NoQueryErrors"
	ReasonHasQueryErrors = "HasQueryErrors"
)

// Fields implements condition.Pointer.
func (c *Condition) Fields() condition.Fields {
	return condition.Fields{
		Type: &c.Type, Status: &c.Status, Reason: &c.Reason, Message: &c.Message,
		Observed: &c.LastHeartbeatTime, Transition: &c.LastTransitionTime,
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
