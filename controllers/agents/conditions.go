package agents

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/wire"
)

// group gathers host statuses that look the same in the conditions.
type group int

const (
	unknown group = iota // a status that this program does not know
	before               // not yet installable
	ready
	preparing
	installing
	installed
	failed
	cancelled
	away // disconnected
	unbound
	binding
	unbinding
)

// groups sorts every status of the protocol.
var groups = map[string]group{
	wire.HostStatusDiscovering:                 before,
	wire.HostStatusInsufficient:                before,
	wire.HostStatusPendingForInput:             before,
	wire.HostStatusBinding:                     binding,
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
// synced is why the hub did not take the spec, nil when it has it.
func conditions(h *wire.Host, approved bool, synced error) []agentv1.Condition {
	g := groups[h.Status]
	return list(map[string]verdict{
		agentv1.ConditionSpecSynced:      specSynced(synced),
		agentv1.ConditionConnected:       connected(g),
		agentv1.ConditionRequirementsMet: requirementsMet(g, approved, synced, h),
		agentv1.ConditionValidated:       validated(g, h),
		agentv1.ConditionInstalled:       installedVerdict(g, h),
		agentv1.ConditionBound:           bound(g, h),
	})
}

// notAvailable returns the conditions of an Agent that the hub has no record of.
func notAvailable() []agentv1.Condition {
	gone := verdict{corev1.ConditionUnknown, agentv1.ReasonNotAvailable, "the hub has no record of this host; boot it into its live image, or delete the Agent"}
	return list(map[string]verdict{
		agentv1.ConditionConnected: gone, agentv1.ConditionRequirementsMet: gone, agentv1.ConditionValidated: gone,
		agentv1.ConditionInstalled: gone, agentv1.ConditionBound: gone,
	})
}

// list puts verdicts in a fixed order.
func list(verdicts map[string]verdict) []agentv1.Condition {
	var out []agentv1.Condition
	for _, kind := range slices.Sorted(maps.Keys(verdicts)) {
		v := verdicts[kind]
		out = append(out, agentv1.Condition{Type: kind, Status: v.status, Reason: v.reason, Message: v.message})
	}
	return out
}

// specSynced says why the hub does not take the spec.
func specSynced(err error) verdict {
	switch {
	case err == nil:
		return verdict{corev1.ConditionTrue, agentv1.ReasonSyncOK, "the hub has what the spec says"}
	case refused(err):
		message := err.Error()
		if text, is := input.Told("host", err); is {
			message = text
		}
		return verdict{corev1.ConditionFalse, agentv1.ReasonInputError, message}
	default:
		return verdict{corev1.ConditionFalse, agentv1.ReasonBackendError, err.Error()}
	}
}

func connected(g group) verdict {
	if g == unknown {
		return verdict{corev1.ConditionUnknown, agentv1.ReasonUnknownStatus, "the hub reports a status that this version does not know"}
	}
	if g == away {
		return verdict{corev1.ConditionFalse, agentv1.ReasonAgentIsDisconnected, "the agent has not been heard of for too long"}
	}
	return verdict{corev1.ConditionTrue, agentv1.ReasonAgentIsConnected, "the agent answers"}
}

func requirementsMet(g group, approved bool, synced error, h *wire.Host) verdict {
	if h.Status == wire.HostStatusKnownUnbound {
		g = ready // for any cluster
	}
	switch g {
	case ready:
		switch {
		case !approved && synced != nil:
			return verdict{corev1.ConditionFalse, agentv1.ReasonAgentNotReady, "it is not installed before the hub has what the spec says; the condition SpecSynced says what is missing"}
		case !approved:
			return verdict{corev1.ConditionFalse, agentv1.ReasonAgentIsNotApproved, "set spec.approved to let it be installed"}
		}
		return verdict{corev1.ConditionTrue, agentv1.ReasonAgentIsReady, "the host is ready to be installed"}
	case preparing, installing:
		return verdict{corev1.ConditionTrue, agentv1.ReasonAgentAlreadyInstalling, h.StatusInfo}
	case installed, failed, cancelled:
		return verdict{corev1.ConditionTrue, agentv1.ReasonAgentInstallationStopped, h.StatusInfo}
	case binding, unbinding, unknown:
		return passing(g, h)
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
	case g == binding || g == unbinding || g == unknown:
		return passing(g, h)
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
	case binding, unbinding, unknown:
		return passing(g, h)
	default:
		return verdict{corev1.ConditionFalse, agentv1.ReasonInstallationNotStarted, h.StatusInfo}
	}
}

func bound(g group, h *wire.Host) verdict {
	switch {
	case h.Status == wire.HostStatusUnbindingPendingUserAction:
		return verdict{corev1.ConditionFalse, agentv1.ReasonUnbindingPendingUserAction, h.StatusInfo}
	case g == binding || g == unbinding || g == unknown:
		return passing(g, h)
	case h.ClusterID == nil || *h.ClusterID == "":
		return verdict{corev1.ConditionFalse, agentv1.ReasonUnbound, "the host belongs to no cluster; set spec.clusterDeploymentName"}
	default:
		return verdict{corev1.ConditionTrue, agentv1.ReasonBound, "the host belongs to its cluster"}
	}
}

// passing is what every condition says of a host between two clusters, and of
// one whose status tells nothing.
func passing(g group, h *wire.Host) verdict {
	switch g {
	case binding:
		return verdict{corev1.ConditionFalse, agentv1.ReasonBinding, h.StatusInfo}
	case unbinding:
		return verdict{corev1.ConditionFalse, agentv1.ReasonUnbinding, h.StatusInfo}
	default:
		return verdict{corev1.ConditionUnknown, agentv1.ReasonUnknownStatus, "the hub reports a status that this version does not know: " + h.Status}
	}
}
