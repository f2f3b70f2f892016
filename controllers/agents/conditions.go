package agents

import (
	corev1 "k8s.io/api/core/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// group gathers host statuses that look the same in the conditions.
type group int

const (
	before group = iota // not yet installable
	ready
	preparing
	installing
	installed
	failed
	cancelled
	away // disconnected
	unbound
	unbinding
)

// groups sorts every status of the protocol.
var groups = map[string]group{
	wire.HostStatusDiscovering:                 before,
	wire.HostStatusInsufficient:                before,
	wire.HostStatusPendingForInput:             before,
	wire.HostStatusBinding:                     before,
	wire.HostStatusResetting:                   before,
	wire.HostStatusResettingPendingUserAction:  before,
	wire.HostStatusDisabled:                    before,
	wire.HostStatusKnown:                       ready,
	wire.HostStatusPreparingForInstallation:    preparing,
	wire.HostStatusPreparingFailed:             preparing,
	wire.HostStatusPreparingSuccessful:         preparing,
	wire.HostStatusInstalling:                  installing,
	wire.HostStatusInstallingInProgress:        installing,
	wire.HostStatusInstallingPendingUserAction: installing,
	wire.HostStatusInstalled:                   installed,
	wire.HostStatusAddedToExistingCluster:      installed,
	wire.HostStatusError:                       failed,
	wire.HostStatusCancelled:                   cancelled,
	wire.HostStatusDisconnected:                away,
	wire.HostStatusDisconnectedUnbound:         away,
	wire.HostStatusDiscoveringUnbound:          unbound,
	wire.HostStatusInsufficientUnbound:         unbound,
	wire.HostStatusKnownUnbound:                unbound,
	wire.HostStatusDisabledUnbound:             unbound,
	wire.HostStatusReclaiming:                  unbinding,
	wire.HostStatusReclaimingRebooting:         unbinding,
	wire.HostStatusUnbinding:                   unbinding,
	wire.HostStatusUnbindingPendingUserAction:  unbinding,
}

// verdict is one condition's value.
type verdict struct {
	status  corev1.ConditionStatus
	reason  string
	message string
}

// conditions returns the Agent's conditions for the hub's record of the host.
func conditions(h *wire.Host, approved bool) []agentv1.Condition {
	g := groups[h.Status]
	list := []struct {
		kind  string
		value verdict
	}{
		{agentv1.ConditionSpecSynced, verdict{corev1.ConditionTrue, agentv1.ReasonSyncOK, "the hub has what the spec says"}},
		{agentv1.ConditionConnected, connected(g)},
		{agentv1.ConditionRequirementsMet, requirementsMet(g, approved, h)},
		{agentv1.ConditionValidated, validated(g, h)},
		{agentv1.ConditionInstalled, installedVerdict(g, h)},
		{agentv1.ConditionBound, bound(g, h)},
	}
	out := make([]agentv1.Condition, len(list))
	for i, c := range list {
		out[i] = agentv1.Condition{Type: c.kind, Status: c.value.status, Reason: c.value.reason, Message: c.value.message}
	}
	return out
}

func connected(g group) verdict {
	if g == away {
		return verdict{corev1.ConditionFalse, agentv1.ReasonAgentIsDisconnected, "the agent has not been heard of for too long"}
	}
	return verdict{corev1.ConditionTrue, agentv1.ReasonAgentIsConnected, "the agent answers"}
}

func requirementsMet(g group, approved bool, h *wire.Host) verdict {
	switch g {
	case ready:
		if !approved {
			return verdict{corev1.ConditionFalse, agentv1.ReasonAgentIsNotApproved, "set spec.approved to let it be installed"}
		}
		return verdict{corev1.ConditionTrue, agentv1.ReasonAgentIsReady, "the host is ready to be installed"}
	case preparing, installing:
		return verdict{corev1.ConditionTrue, agentv1.ReasonAgentAlreadyInstalling, h.StatusInfo}
	case installed, failed, cancelled:
		return verdict{corev1.ConditionTrue, agentv1.ReasonAgentInstallationStopped, h.StatusInfo}
	default:
		return verdict{corev1.ConditionFalse, agentv1.ReasonAgentNotReady, h.StatusInfo}
	}
}

func validated(g group, h *wire.Host) verdict {
	switch {
	case h.Status == wire.HostStatusPendingForInput:
		return verdict{corev1.ConditionFalse, agentv1.ReasonValidationsUserPending, h.StatusInfo}
	case h.Status == wire.HostStatusInsufficient, h.Status == wire.HostStatusInsufficientUnbound:
		return verdict{corev1.ConditionFalse, agentv1.ReasonValidationsFailing, h.StatusInfo}
	case g == before || g == away || h.ValidationsInfo == "":
		return verdict{corev1.ConditionUnknown, agentv1.ReasonValidationsUnknown, h.StatusInfo}
	default:
		return verdict{corev1.ConditionTrue, agentv1.ReasonValidationsPassing, "all checks of the host pass"}
	}
}

func installedVerdict(g group, h *wire.Host) verdict {
	switch g {
	case installed:
		return verdict{corev1.ConditionTrue, agentv1.ReasonInstallationCompleted, h.StatusInfo}
	case failed, cancelled:
		return verdict{corev1.ConditionFalse, agentv1.ReasonInstallationFailed, h.StatusInfo}
	case preparing, installing:
		return verdict{corev1.ConditionFalse, agentv1.ReasonInstallationInProgress, h.StatusInfo}
	default:
		return verdict{corev1.ConditionFalse, agentv1.ReasonInstallationNotStarted, h.StatusInfo}
	}
}

func bound(g group, h *wire.Host) verdict {
	switch {
	case h.Status == wire.HostStatusUnbindingPendingUserAction:
		return verdict{corev1.ConditionFalse, agentv1.ReasonUnbindingPendingUserAction, h.StatusInfo}
	case g == unbinding:
		return verdict{corev1.ConditionFalse, agentv1.ReasonUnbinding, h.StatusInfo}
	case h.Status == wire.HostStatusBinding:
		return verdict{corev1.ConditionFalse, agentv1.ReasonBinding, h.StatusInfo}
	case h.ClusterID == nil || *h.ClusterID == "":
		return verdict{corev1.ConditionFalse, agentv1.ReasonUnbound, "the host belongs to no cluster; set spec.clusterDeploymentName"}
	default:
		return verdict{corev1.ConditionTrue, agentv1.ReasonBound, "the host belongs to its cluster"}
	}
}
