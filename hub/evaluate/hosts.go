package evaluate

import (
	"encoding/json"
	"slices"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Inventory is the host's inventory; nil when there is none that can be read. It must not be changed.
func Inventory(h *store.Host) *wire.Inventory { return h.Inventory() }

// HostName is the name that a person knows the host by: the wanted one, its
// own, or its id.
func HostName(h *store.Host) string {
	if h.API.RequestedHostname != "" {
		return h.API.RequestedHostname
	}
	if name := validations.Hostname(&h.API, Inventory(h)); name != "" {
		return name
	}
	return h.API.ID
}

// PastReboot tells that the live image, and the agent with it, is gone.
func PastReboot(stage wire.HostStage) bool {
	return slices.Contains([]wire.HostStage{
		wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
	}, stage)
}

// MediaConnected tells that the host can read its boot medium, as far as it said.
func MediaConnected(h *store.Host) bool {
	return h.API.MediaStatus == nil || *h.API.MediaStatus != wire.HostMediaStatusDisconnected
}

// IsUp tells that a host in the status is installed.
func IsUp(status string) bool {
	return status == wire.HostStatusInstalled || status == wire.HostStatusAddedToExistingCluster
}

// HostFacts gathers what the host machine decides on. c is nil for an unbound
// host; facts are the host's reports, outcome is what its checks came to.
func (e Evaluator) HostFacts(h *store.Host, c *store.Cluster, facts *validations.HostFacts, outcome validations.HostOutcome) hostmachine.Facts {
	f := hostmachine.Facts{
		Connected: e.Connected(h), MediaConnected: MediaConnected(h),
		HasInventory: outcome.HasInventory, MinimumHardware: outcome.MinimumHardware, NetworkDefined: outcome.NetworkDefined,
		OtherValidations: outcome.Others, MinimumPool: outcome.MinimumHardware && outcome.Others,
		Twin:      e.Twin(h) != "",
		RoleValid: h.API.Role != "" && h.API.Role != wire.HostRoleAutoAssign,
		Stage:     h.Stage(), InState: e.ageOf(h.API.StatusUpdatedAt),
		PrepareTimeout: e.Timers.Prepare, SoftTimeouts: e.Timers.Soft,
		ConnectionFlag: h.API.ConnectionTimedOut, LogsTimedOut: e.logsTimedOut(h),
	}
	if Waits(h, c) {
		f.InState = 0 // it was not asked to begin yet
	}
	if p := h.API.Progress; p != nil {
		f.InStage, f.SinceUpdate, f.StageFlag = e.ageOf(p.StageStartedAt), e.ageOf(p.StageUpdatedAt), p.StageTimedOut
	}
	if c != nil {
		f.Bound, f.DayTwo, f.Inside, f.ClusterStatus = true, instructions.IsDayTwo(&c.API), c.Supervised, c.API.Status
		f.StageTimeout = e.Timers.StageLimit(f.Stage, SingleNode(c))
		f.Repeats = e.NodeZero.repeats(h, c)
		f.DiskSpeed, f.Images = e.DiskCheck(h, c, facts), e.ImageCheck(h, c)
	}
	return f
}

// HostInput is what the checks of a host look at; c and common are nil for an unbound host.
func (e Evaluator) HostInput(h *store.Host, c *store.Cluster, facts *validations.HostFacts, common *validations.ClusterFacts) (validations.HostInput, validations.Lists) {
	in := validations.HostInput{
		HostFacts: facts, Needs: e.NeedsOf(c, facts), Minimum: validations.Minimal,
		Connected: e.Connected(h), MediaConnected: MediaConnected(h), AgentImage: e.Checks.AgentImage,
		Twin: e.Twin(h),
	}
	lists := validations.Lists{Disabled: e.Checks.DisabledHost}
	if c != nil {
		in.Cluster, in.Minimum = common, e.Needs.Minimum(c.API.OpenshiftVersion, SingleNode(c))
		lists.Ignored = idList(c.API.IgnoredHostValidations)
	}
	return in.WithOperators(), lists
}

// idList reads a list of ids; one that cannot be read suppresses nothing.
func idList(text string) []string {
	var ids []string
	if text == "" || json.Unmarshal([]byte(text), &ids) != nil {
		return nil
	}
	return ids
}

// NeedsOf are the requirements of a host's role; c is nil for an unbound host.
func (e Evaluator) NeedsOf(c *store.Cluster, facts *validations.HostFacts) validations.Requirements {
	if c == nil {
		return validations.Minimal
	}
	return e.Needs.For(c.API.OpenshiftVersion, facts.RequirementRole(), SingleNode(c))
}
